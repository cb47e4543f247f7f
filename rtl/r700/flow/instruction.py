"""CF instructions, decoded, and whether each is legal.

Source: R700-Family Instruction Set Architecture, chapter 3; docs/design/r700-core.md.
"""

from collections.abc import Sequence

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, enum, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.shading import Stage, is_of_threads
from ctm.rtl.isa.limits import OUTPUTS, WORD_BITS
from ctm.rtl.isa.r700 import control_flow as cf
from ctm.rtl.isa.r700 import exports
from ctm.rtl.isa.r700.components import ComponentSelect
from ctm.rtl.isa.r700.control_flow import AluClause, CfOperation, Condition, KcacheMode
from ctm.rtl.isa.r700.limits import FETCH_UNITS, KCACHE_SETS, UNIT_BYTES
from ctm.rtl.isa.r700.pipeline import PRIMITIVE_BANKS
from ctm.rtl.isa.r700.program import MEMORY_OUTPUT, SCRATCH_OUTPUT
from ctm.rtl.r700.border.alu_clause import FIRST_SHAPE_LINE, KCACHE, SHAPE_BANK_LINES
from ctm.rtl.r700.shapes import CF_ADDRESS_BITS, PROGRAM

_UNUSED_SELECT = 6
_UNUSED_ELEMENT = 2
_BANK_BITS = PRIMITIVE_BANKS.bit_length()


class Kind(enum.Enum, shape=2):
    """The kind of a CF instruction."""

    FLOW = 0
    FETCHES = 1
    EXPORT = 2
    ALU = 3


CF_INSTRUCTION = data.StructLayout(
    {
        "kind": Kind,
        "flow": CfOperation,
        "alu": AluClause,
        "target": CF_ADDRESS_BITS,
        "units": 8,
        "pop_count": 3,
        "constant": 5,
        "condition": Condition,
        "call_count": 6,
        "ends": 1,
        "valid_pixels": 1,
        "whole_quads": 1,
        "textures": 1,
        "relative": 1,
        "kcache": data.ArrayLayout(KCACHE, KCACHE_SETS),
        "illegal": 1,
    }
)
"""A CF instruction. `target` is the address of a clause or a jump's target, `units` a clause's length. A fetch clause
may be one of `textures`, an export `relative` to aL."""


def has_bit(code: Value, members: Sequence[enum.Enum]) -> Value:
    """Whether a code is one of these."""
    return Cat(code == member.value for member in members).any()


class CfDecode(wiring.Component):
    """Decodes a CF instruction; with `draws` those of a draw's programs, with `geometry` of all. Combinational.

    Members
    -------
    unit : ``In(64)``
    program : ``In(PROGRAM)``
    instruction : ``Out(CF_INSTRUCTION)``
    """

    unit: In(8 * UNIT_BYTES)
    program: In(PROGRAM)
    instruction: Out(CF_INSTRUCTION)

    latency = 0

    def __init__(self, *, draws: bool = False, outputs: int = OUTPUTS, geometry: bool = False) -> None:
        self._draws, self._outputs, self._geometry = draws, outputs, geometry
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        instruction, high = self.instruction, self.unit[WORD_BITS:]
        form = data.View(cf.CF_FORM, high)
        address = Signal(WORD_BITS)
        m.d.comb += instruction.target.eq(Cat(address[: CF_ADDRESS_BITS - 1], address[CF_ADDRESS_BITS - 1 :].any()))
        with m.If(form.is_alu):
            m.d.comb += instruction.kind.eq(Kind.ALU)
            self._alu(m, address)
        with m.Elif(form.is_export):
            m.d.comb += instruction.kind.eq(Kind.EXPORT)
            self._export(m)
        with m.Else():
            self._flow(m, address)
        return m

    def _flow(self, m: Module, address: Signal) -> None:
        instruction, low = self.instruction, self.unit[:WORD_BITS]
        fields = data.View(cf.CF_DWORD1, self.unit[WORD_BITS:])
        code = Value.cast(fields.cf_inst)
        saved = [operation for operation in CfOperation if operation not in cf.UNSUPPORTED]
        is_fetch = has_bit(code, cf.FETCH_CLAUSES)
        count = Cat(fields.count, fields.count_3)
        is_call, calls_fetch, target, emits = code == CfOperation.CALL.value, Const(0), low, Const(0)
        if self._geometry:
            emits = has_bit(code, cf.EMITS) & (self.program.stage == Stage.GEOMETRY)
        if self._draws:
            draw, of_vertices = self.program.draw, self.program.stage == Stage.VERTICES
            calls_fetch = (code == CfOperation.CALL_FS.value) & of_vertices & draw.has_fetch
            is_call |= calls_fetch
            target = Mux(calls_fetch, draw.fetch_start, low)
        m.d.comb += [
            address.eq(target),
            instruction.kind.eq(Mux(is_fetch, Kind.FETCHES.value, Kind.FLOW.value)),
            # CALL_FS is a CALL to the fetch subroutine.
            Value.cast(instruction.flow).eq(Mux(calls_fetch, CfOperation.CALL.value, code)),
            instruction.units.eq(FETCH_UNITS * (count + 1)),
            instruction.pop_count.eq(fields.pop_count),
            instruction.constant.eq(fields.cf_const),
            Value.cast(instruction.condition).eq(Value.cast(fields.cond)),
            instruction.call_count.eq(fields.call_count),
            instruction.ends.eq(fields.end_of_program),
            instruction.valid_pixels.eq(fields.valid_pixel_mode),
            instruction.whole_quads.eq(fields.whole_quad_mode),
            instruction.textures.eq(has_bit(code, cf.TEXTURE_CLAUSES)),
            instruction.illegal.eq(
                ~(has_bit(code, saved) | calls_fetch | emits)
                | fields.reserved
                | (has_bit(code, cf.UNCONDITIONAL) & (Value.cast(fields.cond) != Condition.ACTIVE.value))
                | (fields.whole_quad_mode & (~is_fetch | fields.valid_pixel_mode))
                | (is_call & fields.pop_count.any())
                | (is_fetch & low[0])
            ),
        ]

    def _alu(self, m: Module, address: Signal) -> None:
        instruction = self.instruction
        low, high = (
            data.View(cf.CF_ALU_DWORD0, self.unit[:WORD_BITS]),
            data.View(cf.CF_ALU_DWORD1, self.unit[WORD_BITS:]),
        )
        code = Value.cast(high.cf_inst)
        sets = (
            (low.kcache_mode0, low.kcache_bank0, high.kcache_addr0),
            (high.kcache_mode1, low.kcache_bank1, high.kcache_addr1),
        )
        for kcache, (mode, bank, line) in zip(instruction.kcache, sets, strict=True):
            mode = Value.cast(mode)
            lines = Mux(mode == KcacheMode.LOCK_1.value, 1, Mux(mode == KcacheMode.LOCK_2.value, 2, 0))
            named, is_bad = self._line(bank, line)
            m.d.comb += [
                kcache.line.eq(named),
                kcache.lines.eq(lines),
                kcache.problem.eq((mode == KcacheMode.LOCK_LOOP_INDEX.value) | (lines.any() & is_bad)),
            ]
        pushes = code == AluClause.ALU_PUSH_BEFORE.value
        m.d.comb += [
            address.eq(low.addr),
            Value.cast(instruction.alu).eq(code),
            instruction.units.eq(high.count + 1),
            instruction.whole_quads.eq(high.whole_quad_mode),
            instruction.illegal.eq(~has_bit(code, tuple(AluClause)) | high.alt_const | (pushes & high.whole_quad_mode)),
        ]

    def _line(self, bank: Value, line: Value) -> tuple[Value, Value]:
        """A line of a bank of constants among those of all banks, and whether there is no such bank."""
        if not self._draws:
            return line, bank.any()
        of_pixels = self.program.stage == Stage.PIXELS
        last = SHAPE_BANK_LINES // 2 - 1
        own = Mux(line > last, last, line)[: last.bit_length()]
        named = Mux(
            bank.any(),
            Cat(own, Const(0, 1), bank[:_BANK_BITS]) + FIRST_SHAPE_LINE,
            line + self.program.draw.constant_base,
        )
        return named, Mux(of_pixels, bank > PRIMITIVE_BANKS, bank.any())

    def _export(self, m: Module) -> None:
        instruction, program = self.instruction, self.program
        low = data.View(exports.EXPORT_DWORD0, self.unit[:WORD_BITS])
        pixels = data.View(exports.EXPORT_DWORD1_SWIZ, self.unit[WORD_BITS:])
        memory = data.View(exports.EXPORT_DWORD1_BUF, self.unit[WORD_BITS:])
        code = Value.cast(pixels.cf_inst)
        last = low.array_base + pixels.burst_count
        is_depth = low.array_base == exports.COMPUTED_DEPTH
        outputs = Mux(program.stage == Stage.PIXELS, self._outputs, OUTPUTS) if self._draws else OUTPUTS
        beyond = Mux(is_depth, pixels.burst_count.any(), last >= outputs)
        to_memory = program.memory & (low.array_base == MEMORY_OUTPUT)
        to_scratch = program.scratch & (low.array_base <= SCRATCH_OUTPUT) & (last >= SCRATCH_OUTPUT)
        selects = [Value.cast(pixels[f"sel_{component}"]) for component in "xyzw"]
        bad_target = (Value.cast(low.type) != exports.ExportType.PIXEL.value) | beyond | to_memory | to_scratch
        of_threads = self._of_threads()
        if self._draws:
            bad_target = Mux(of_threads, _is_no_vector(low, last) | self._writes_ring(), bad_target)
        bad_selects = Cat(select == _UNUSED_SELECT for select in selects).any()
        bad_pixels = pixels.reserved.any() | bad_target | bad_selects
        is_scratch = code == exports.ExportOperation.MEM_SCRATCH.value
        is_write = has_bit(code, exports.MEMORY_WRITES)
        bad_memory = (
            memory.reserved.any()
            | (low.elem_size == _UNUSED_ELEMENT)
            | (~of_threads & Mux(is_scratch, ~program.scratch, ~program.memory))
        )
        m.d.comb += [
            instruction.ends.eq(pixels.end_of_program),
            instruction.valid_pixels.eq(pixels.valid_pixel_mode),
            instruction.relative.eq(low.rw_rel),
            instruction.illegal.eq(
                pixels.whole_quad_mode
                | Mux(
                    has_bit(code, exports.SWIZZLED),
                    bad_pixels,
                    ~Mux(of_threads, self._writes_item(code), is_write) | bad_memory,
                )
            ),
        ]
        assert ComponentSelect.MASK.value == _UNUSED_SELECT + 1

    def _of_threads(self) -> Value:
        """Whether the program is run for threads: for vertices or primitives."""
        if not self._draws:
            return Const(0)
        return is_of_threads(self.program.stage)

    def _writes_item(self, code: Value) -> Value:
        """Whether an export writes what a program for threads may write: a ring, or a stream."""
        if not self._geometry:
            return Const(0)
        writes_ring = self._writes_ring()
        is_stream = has_bit(code, exports.STREAM_WRITES)
        return Mux(writes_ring, code == exports.ExportOperation.MEM_RING.value, is_stream)

    def _writes_ring(self) -> Value:
        """Whether the program writes to a ring, and exports nothing."""
        program = self.program
        of_vertices = (program.stage == Stage.VERTICES) & program.draw.has_geometry
        return Value.cast(of_vertices | (program.stage == Stage.GEOMETRY))


def _is_no_vector(low: data.View, last: Value) -> Value:
    """Whether an export of a vertex has a target that is no vector of vertices; `last` is the last of its burst."""
    kind, base = Value.cast(low.type), low.array_base
    first, end = exports.FIRST_POSITION, exports.FIRST_POSITION + exports.POSITIONS
    no_position = (base < first) | (last >= end)
    return Mux(
        kind == exports.ExportType.POS.value,
        no_position,
        (kind != exports.ExportType.PARAM.value) | (last >= exports.PARAMETERS),
    )

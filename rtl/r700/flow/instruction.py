"""CF instructions, decoded, and whether each is legal.

Source: R700-Family Instruction Set Architecture, chapter 3; docs/design/r700-core.md.
"""

from collections.abc import Sequence
from typing import Any

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, enum, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.isa.limits import OUTPUTS, WORD_BITS
from ctm.rtl.isa.r700 import control_flow as cf
from ctm.rtl.isa.r700 import exports
from ctm.rtl.isa.r700.components import ComponentSelect
from ctm.rtl.isa.r700.control_flow import AluClause, CfOperation, Condition, KcacheMode
from ctm.rtl.isa.r700.limits import FETCH_UNITS, KCACHE_SETS, UNIT_BYTES
from ctm.rtl.isa.r700.program import MEMORY_OUTPUT, SCRATCH_OUTPUT
from ctm.rtl.r700.alu.operands import KCACHE
from ctm.rtl.r700.shapes import CF_ADDRESS_BITS, PROGRAM

_UNUSED_SELECT = 6
_UNUSED_ELEMENT = 2


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


def has_bit(code: Value, members: Sequence[Any]) -> Value:
    """Whether a code is one of these."""
    return Cat(code == member.value for member in members).any()


class CfDecode(wiring.Component):
    """Decodes a CF instruction. Combinational.

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
        m.d.comb += [
            address.eq(low),
            instruction.kind.eq(Mux(is_fetch, Kind.FETCHES.value, Kind.FLOW.value)),
            Value.cast(instruction.flow).eq(code),
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
                ~has_bit(code, saved)
                | fields.reserved
                | (has_bit(code, cf.UNCONDITIONAL) & (Value.cast(fields.cond) != Condition.ACTIVE.value))
                | (fields.whole_quad_mode & (~is_fetch | fields.valid_pixel_mode))
                | ((code == CfOperation.CALL.value) & fields.pop_count.any())
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
            m.d.comb += [
                kcache.line.eq(line),
                kcache.lines.eq(lines),
                kcache.problem.eq((mode == KcacheMode.LOCK_LOOP_INDEX.value) | (lines.any() & bank.any())),
            ]
        pushes = code == AluClause.ALU_PUSH_BEFORE.value
        m.d.comb += [
            address.eq(low.addr),
            Value.cast(instruction.alu).eq(code),
            instruction.units.eq(high.count + 1),
            instruction.whole_quads.eq(high.whole_quad_mode),
            instruction.illegal.eq(~has_bit(code, tuple(AluClause)) | high.alt_const | (pushes & high.whole_quad_mode)),
        ]

    def _export(self, m: Module) -> None:
        instruction, program = self.instruction, self.program
        low = data.View(exports.EXPORT_DWORD0, self.unit[:WORD_BITS])
        pixels = data.View(exports.EXPORT_DWORD1_SWIZ, self.unit[WORD_BITS:])
        memory = data.View(exports.EXPORT_DWORD1_BUF, self.unit[WORD_BITS:])
        code = Value.cast(pixels.cf_inst)
        last = low.array_base + pixels.burst_count
        is_depth = low.array_base == exports.COMPUTED_DEPTH
        beyond = Mux(is_depth, pixels.burst_count.any(), last >= OUTPUTS)
        to_memory = program.memory & (low.array_base == MEMORY_OUTPUT)
        to_scratch = program.scratch & (low.array_base <= SCRATCH_OUTPUT) & (last >= SCRATCH_OUTPUT)
        selects = [Value.cast(pixels[f"sel_{component}"]) for component in "xyzw"]
        bad_pixels = (
            pixels.reserved.any()
            | (Value.cast(low.type) != exports.ExportType.PIXEL.value)
            | beyond
            | to_memory
            | to_scratch
            | Cat(select == _UNUSED_SELECT for select in selects).any()
        )
        is_scratch = code == exports.ExportOperation.MEM_SCRATCH.value
        bad_memory = (
            memory.reserved.any()
            | (low.elem_size == _UNUSED_ELEMENT)
            | Mux(is_scratch, ~program.scratch, ~program.memory)
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
                    ~has_bit(code, exports.MEMORY_WRITES) | bad_memory,
                )
            ),
        ]
        assert ComponentSelect.MASK.value == _UNUSED_SELECT + 1

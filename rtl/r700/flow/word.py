"""CF words, decoded: what each does, and whether it may be executed.

Source: R700-Family Instruction Set Architecture, chapter 3; docs/architecture.md.
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
from ctm.rtl.r700.shapes import PROGRAM, WORD_ADDRESS_BITS

_UNUSED_SELECT = 6
_UNUSED_ELEMENT = 2


class Kind(enum.Enum, shape=2):
    """What a CF word is."""

    FLOW = 0
    FETCHES = 1
    EXPORT = 2
    ALU = 3


WORD = data.StructLayout(
    {
        "kind": Kind,
        "flow": CfOperation,
        "alu": AluClause,
        "target": WORD_ADDRESS_BITS,
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
"""A CF word. `target` is where a clause or a jump leads, `units` how long a clause is. A fetch clause may
be one of `textures`, an export `relative` to aL."""


def has_bit(code: Value, members: Sequence[Any]) -> Value:
    """Whether a code is one of these."""
    return Cat(code == member.value for member in members).any()


class CfDecode(wiring.Component):
    """Decodes a CF word. Combinational.

    Members
    -------
    unit : ``In(64)``
    program : ``In(PROGRAM)``
    word : ``Out(WORD)``
    """

    unit: In(8 * UNIT_BYTES)
    program: In(PROGRAM)
    word: Out(WORD)

    latency = 0

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        word, high = self.word, self.unit[WORD_BITS:]
        form = data.View(cf.CF_FORM, high)
        address = Signal(WORD_BITS)
        m.d.comb += word.target.eq(Cat(address[: WORD_ADDRESS_BITS - 1], address[WORD_ADDRESS_BITS - 1 :].any()))
        with m.If(form.is_alu):
            m.d.comb += word.kind.eq(Kind.ALU)
            self._alu(m, address)
        with m.Elif(form.is_export):
            m.d.comb += word.kind.eq(Kind.EXPORT)
            self._export(m)
        with m.Else():
            self._flow(m, address)
        return m

    def _flow(self, m: Module, address: Signal) -> None:
        word, low = self.word, self.unit[:WORD_BITS]
        fields = data.View(cf.CF_DWORD1, self.unit[WORD_BITS:])
        code = Value.cast(fields.cf_inst)
        saved = [operation for operation in CfOperation if operation not in cf.UNSUPPORTED]
        is_fetch = has_bit(code, cf.FETCH_CLAUSES)
        count = Cat(fields.count, fields.count_3)
        m.d.comb += [
            address.eq(low),
            word.kind.eq(Mux(is_fetch, Kind.FETCHES.value, Kind.FLOW.value)),
            Value.cast(word.flow).eq(code),
            word.units.eq(FETCH_UNITS * (count + 1)),
            word.pop_count.eq(fields.pop_count),
            word.constant.eq(fields.cf_const),
            Value.cast(word.condition).eq(Value.cast(fields.cond)),
            word.call_count.eq(fields.call_count),
            word.ends.eq(fields.end_of_program),
            word.valid_pixels.eq(fields.valid_pixel_mode),
            word.whole_quads.eq(fields.whole_quad_mode),
            word.textures.eq(has_bit(code, cf.TEXTURE_CLAUSES)),
            word.illegal.eq(
                ~has_bit(code, saved)
                | fields.reserved
                | (has_bit(code, cf.UNCONDITIONAL) & (Value.cast(fields.cond) != Condition.ACTIVE.value))
                | (fields.whole_quad_mode & (~is_fetch | fields.valid_pixel_mode))
                | ((code == CfOperation.CALL.value) & fields.pop_count.any())
                | (is_fetch & low[0])
            ),
        ]

    def _alu(self, m: Module, address: Signal) -> None:
        word = self.word
        low, high = (
            data.View(cf.CF_ALU_DWORD0, self.unit[:WORD_BITS]),
            data.View(cf.CF_ALU_DWORD1, self.unit[WORD_BITS:]),
        )
        code = Value.cast(high.cf_inst)
        sets = (
            (low.kcache_mode0, low.kcache_bank0, high.kcache_addr0),
            (high.kcache_mode1, low.kcache_bank1, high.kcache_addr1),
        )
        for kcache, (mode, bank, line) in zip(word.kcache, sets, strict=True):
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
            Value.cast(word.alu).eq(code),
            word.units.eq(high.count + 1),
            word.whole_quads.eq(high.whole_quad_mode),
            word.illegal.eq(~has_bit(code, tuple(AluClause)) | high.alt_const | (pushes & high.whole_quad_mode)),
        ]

    def _export(self, m: Module) -> None:
        word, program = self.word, self.program
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
            word.ends.eq(pixels.end_of_program),
            word.valid_pixels.eq(pixels.valid_pixel_mode),
            word.relative.eq(low.rw_rel),
            word.illegal.eq(
                pixels.whole_quad_mode
                | Mux(
                    has_bit(code, exports.SWIZZLED),
                    bad_pixels,
                    ~has_bit(code, exports.MEMORY_WRITES) | bad_memory,
                )
            ),
        ]
        assert ComponentSelect.MASK.value == _UNUSED_SELECT + 1

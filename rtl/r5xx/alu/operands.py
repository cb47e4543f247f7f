"""Operands of an ALU instruction: the source, its swizzle and the input modifier.

Source: CTM Guide pp. 26-27.
"""

from collections.abc import Sequence

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, enum, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.fp.number import HALF, ONE, ZERO
from ctm.rtl.isa.limits import CHANNELS, QUAD, WORD_BITS
from ctm.rtl.isa.r5xx.instruction import ALPHA_INST, INSTRUCTION, RGB_INST, RGBA_INST
from ctm.rtl.isa.r5xx.limits import SCALAR
from ctm.rtl.isa.r5xx.opcodes import AlphaOperation, InputModifier, RgbOperation, Select, Swizzle
from ctm.rtl.r5xx.entries import VECTOR, ChannelOperands

SOURCES = len(Select)
"""src0 to src2 and srcp."""
_COLORS = ("red", "green", "blue")
_CONSTANTS = {Swizzle.ZERO: ZERO, Swizzle.HALF: HALF, Swizzle.ONE: ONE}


class Neighbour(enum.Enum, shape=2):
    """The lanes whose src0 replaces operand c, where a derivative's operands come from the quad."""

    NONE = 0
    RIGHT = 1
    ABOVE = 2


class OperandSelection(wiring.Component):
    """Gives the lane its operands. Combinational.

    Members
    -------
    words : ``In(INSTRUCTION)``
    sources : ``In(ArrayLayout(VECTOR, 4))``
        src0, src1, src2 and srcp; colours from the RGB unit's addresses, alpha from the alpha unit's.
    quad : ``In(ArrayLayout(VECTOR, 2))``
        For MDH and MDV, src0 of the quad's lane 0, and of the lane that operand c comes from.
    operands : ``Out(ArrayLayout(ChannelOperands, 4))``
    """

    words: In(INSTRUCTION)
    sources: In(data.ArrayLayout(VECTOR, SOURCES))
    quad: In(data.ArrayLayout(VECTOR, 2))
    operands: Out(data.ArrayLayout(ChannelOperands, CHANNELS))

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        rgb, alpha, both = RGB_INST(self.words[3]), ALPHA_INST(self.words[4]), RGBA_INST(self.words[5])
        rgb_neighbour, alpha_neighbour = neighbours(m, self.words)
        for channel in range(CHANNELS):
            own, unit = (alpha, "alpha_") if channel == SCALAR else (rgb, "rgb_")
            neighbour = alpha_neighbour if channel == SCALAR else rgb_neighbour
            color = "" if channel == SCALAR else f"{_COLORS[channel]}_"
            c_color = "alpha_" if channel == SCALAR else color
            replaced = neighbour != Neighbour.NONE
            first, other = (vector[channel] for vector in self.quad)
            a = self._chosen(m, own.sel_a, own[f"{color}swiz_a"], replaced, first)
            b = self._chosen(m, own.sel_b, own[f"{color}swiz_b"])
            c = self._chosen(m, both[f"{unit}sel_c"], both[f"{c_color}swiz_c"], replaced, other)
            operands = self.operands[channel]
            m.d.comb += [
                operands.a.eq(_modified(a, own.mod_a)),
                operands.b.eq(_modified(b, own.mod_b)),
                operands.c.eq(_modified(c, both[f"{unit}mod_c"])),
            ]
        return m

    def _chosen(
        self, m: Module, select: Value, swizzle: Value, replaced: Value | None = None, other: Value | None = None
    ) -> Signal:
        """A channel of a source, or a constant; or if there is an `other` word that one, while `replaced`."""
        word, source = Signal(WORD_BITS, name="word"), Signal(VECTOR, name="source")
        constant, code = Signal(WORD_BITS, name="constant"), Value.cast(swizzle)
        channel_bits = (CHANNELS - 1).bit_length()
        is_channel: Value = code < CHANNELS
        own: Value = constant
        if replaced is not None and other is not None:
            # Beside the constants, of which most bits are 0, it takes no LUT of its own.
            is_channel, own = is_channel & ~replaced, Mux(replaced, other, constant)
        m.d.comb += [
            source.eq(self.sources[Value.cast(select)]),
            # Selected by the bits of the code, not case by case: two LUTs for each bit of a word.
            word.eq(Mux(is_channel, Value.cast(source).word_select(code[:channel_bits], WORD_BITS), own)),
        ]
        with m.Switch(code):
            for constant_code, number in _CONSTANTS.items():
                with m.Case(constant_code.value):
                    m.d.comb += constant.eq(number)
        return word


def of_quads(m: Module, words: data.View, sources: Sequence[data.View]) -> list[list[Value]]:
    """What the lanes of each quad have of it, by the sources of all lanes: the words of `OperandSelection.quad`."""
    halves, quads = neighbours(m, words), []
    for number in range(0, len(sources), QUAD):
        first, right, above = (lane[0] for lane in sources[number : number + QUAD - 1])
        other = Signal(VECTOR, name="other")
        for channel, word in enumerate(other):
            is_above = halves[channel == SCALAR] == Neighbour.ABOVE
            m.d.comb += word.eq(Mux(is_above, above[channel], right[channel]))
        quads.append([Value.cast(first), Value.cast(other)])
    return quads


def neighbours(m: Module, words: data.View) -> tuple[Signal, Signal]:
    """Of an instruction's two halves, RGB and alpha."""
    alpha, both = ALPHA_INST(words[4]), RGBA_INST(words[5])
    return (
        _neighbour(m, Value.cast(both.rgb_op), RgbOperation),
        _neighbour(m, Value.cast(alpha.op), AlphaOperation),
    )


def _neighbour(m: Module, code: Value, operations: type[RgbOperation] | type[AlphaOperation]) -> Signal:
    neighbour = Signal(Neighbour)
    with m.Switch(code):
        with m.Case(operations.MDH.value):
            m.d.comb += neighbour.eq(Neighbour.RIGHT)
        with m.Case(operations.MDV.value):
            m.d.comb += neighbour.eq(Neighbour.ABOVE)
    return neighbour


def _modified(word: Value, modifier: Value) -> Value:
    """The word after an input modifier: bit 1 clears the sign, then bit 0 inverts it."""
    code = Value.cast(modifier)
    clears, inverts = InputModifier.ABS.value.bit_length() - 1, InputModifier.NEG.value.bit_length() - 1
    return Cat(word[:-1], (word[-1] & ~code[clears]) ^ code[inverts])

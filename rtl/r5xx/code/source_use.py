"""Which sources an ALU instruction needs: a constant that nobody needs is not loaded, and cannot fail.

Source: CTM Guide pp. 26-28.
"""

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r5xx.instruction import ALPHA_ADDR, ALPHA_INST, COMMON, INSTRUCTION, RGB_ADDR, RGB_INST, RGBA_INST
from ctm.rtl.isa.r5xx.limits import ALU_SOURCES
from ctm.rtl.isa.r5xx.opcodes import AlphaOperation, InstructionType, Presubtract, RgbOperation, Select, Swizzle

_ALPHA = 3
_COLORS = ("red", "green", "blue")
_DERIVATIVES = ("MDH", "MDV")
_DOTS = ("DP3", "DP4", "D2A")
_THREE_OPERANDS = ("MAD", "CND", "CMP")
_TWO_OPERANDS = (*_THREE_OPERANDS, "MIN", "MAX", *_DERIVATIVES)
"""Operations that read B; derivatives take A and C from source 0 of the quad."""


class SourceUse(wiring.Component):
    """Gives the sources whose values reach a result that goes somewhere. Combinational.

    Members
    -------
    words : ``In(INSTRUCTION)``
        A legal ALU or OUTPUT instruction.
    rgb, alpha : ``Out(3)``
        Sources 0 to 2 of the RGB and of the alpha unit's addresses.
    presubtract : ``Out(1)``
        Whether srcp is among them.
    """

    words: In(INSTRUCTION)
    rgb: Out(ALU_SOURCES)
    alpha: Out(ALU_SOURCES)
    presubtract: Out(1)

    latency = 0

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        self._rgb_code = Value.cast(RGBA_INST(self.words[5]).rgb_op)
        self._alpha_code = Value.cast(ALPHA_INST(self.words[4]).op)
        needed = self._needed(m)
        from_rgb: list[list[Value]] = [[] for _ in Select]
        from_alpha: list[list[Value]] = [[] for _ in Select]
        for used, select, swizzle in self._operands(needed):
            for source in Select:
                chosen = used & (Value.cast(select) == source.value)
                from_rgb[source.value].append(chosen & (Value.cast(swizzle) < Swizzle.A.value))
                from_alpha[source.value].append(chosen & (Value.cast(swizzle) == Swizzle.A.value))
        takes_a = self._computes_alpha(needed) | (self._dots(needed) & self._rgb("DP4"))
        from_rgb[0].append(needed[:_ALPHA].any() & self._rgb(*_DERIVATIVES))
        from_alpha[0].append(takes_a & self._alpha(*_DERIVATIVES))

        srcp = []
        for port, sources, layout, word in (
            (self.rgb, from_rgb, RGB_ADDR, self.words[1]),
            (self.alpha, from_alpha, ALPHA_ADDR, self.words[2]),
        ):
            *direct, computed = (Cat(bits).any() for bits in sources)
            # BIAS and INV read source 0, SUB and ADD sources 0 and 1.
            of_two = Value.cast(layout(word).srcp_op).matches(Presubtract.SUB.value, Presubtract.ADD.value)
            m.d.comb += port.eq(Cat(direct) | Cat(computed, computed & of_two))
            srcp.append(computed)
        m.d.comb += self.presubtract.eq(Cat(srcp).any())
        return m

    def _rgb(self, *names: str) -> Value:
        return self._rgb_code.matches(*(RgbOperation[name].value for name in names))

    def _alpha(self, *names: str) -> Value:
        return self._alpha_code.matches(*(AlphaOperation[name].value for name in names))

    def _needed(self, m: Module) -> Signal:
        """Channels whose results go somewhere."""
        common, rgb, alpha = COMMON(self.words[0]), RGB_INST(self.words[3]), ALPHA_INST(self.words[4])
        is_output = Value.cast(common.type) == InstructionType.OUTPUT.value
        tested = rgb.alu_wmask & ~is_output
        none = Const(0, 2)
        needed = Signal(CHANNELS)
        m.d.comb += needed.eq(
            Cat(common.rgb_wmask | common.rgb_omask, common.alpha_wmask | common.alpha_omask)
            | Cat(tested & ~common.alu_result_sel, none, tested & common.alu_result_sel)
            | Cat(Const(0, 1), none, is_output & alpha.w_omask)
        )
        return needed

    def _dots(self, needed: Signal) -> Value:
        """Whether a dot product is wanted."""
        return (needed[:_ALPHA].any() & self._rgb(*_DOTS)) | (needed[_ALPHA] & self._alpha("DP"))

    def _computes_alpha(self, needed: Signal) -> Value:
        """Whether the alpha unit's own result is wanted."""
        return (needed[_ALPHA] | (needed[:_ALPHA].any() & self._rgb("SOP"))) & ~self._alpha("DP")

    def _operands(self, needed: Signal) -> list[tuple[Value, Value, Value]]:
        """Each operand: whether it is read, its select and its swizzle."""
        rgb, alpha, both = RGB_INST(self.words[3]), ALPHA_INST(self.words[4]), RGBA_INST(self.words[5])
        dot = self._dots(needed)
        operands = []
        for channel, color in enumerate(_COLORS):
            own = needed[channel] & ~self._rgb("SOP", *_DOTS)
            is_addend = self._rgb("D2A") if channel == len(_COLORS) - 1 else Const(0)
            product = dot & ~is_addend
            operands += [
                ((own & ~self._rgb(*_DERIVATIVES)) | product, rgb.sel_a, rgb[f"{color}_swiz_a"]),
                ((own & self._rgb(*_TWO_OPERANDS)) | product, rgb.sel_b, rgb[f"{color}_swiz_b"]),
                ((own & self._rgb(*_THREE_OPERANDS)) | (dot & is_addend), both.rgb_sel_c, both[f"{color}_swiz_c"]),
            ]
        own, fourth = self._computes_alpha(needed), dot & self._rgb("DP4")
        return [
            *operands,
            ((own | fourth) & ~self._alpha(*_DERIVATIVES), alpha.sel_a, alpha.swiz_a),
            ((own & self._alpha(*_TWO_OPERANDS)) | fourth, alpha.sel_b, alpha.swiz_b),
            (own & self._alpha(*_THREE_OPERANDS), both.alpha_sel_c, both.alpha_swiz_c),
        ]

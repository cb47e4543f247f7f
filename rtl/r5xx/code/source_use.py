"""Sources that an ALU instruction needs: a constant that none needs is not loaded, and cannot fail.

Source: CTM Guide pp. 26-28.
"""

from collections.abc import Callable

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r5xx.instruction import ALPHA_ADDR, ALPHA_INST, COMMON, INSTRUCTION, RGB_ADDR, RGB_INST, RGBA_INST
from ctm.rtl.isa.r5xx.limits import ALU_SOURCES
from ctm.rtl.isa.r5xx.opcodes import InstructionType, Presubtract, Select, Swizzle
from ctm.rtl.isa.r5xx.operations import ALPHA, RGB, Arithmetic

_ALPHA = 3
_COLORS = ("red", "green", "blue")
_Fact = Callable[[Arithmetic], bool]


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
        needed = self._needed(m)
        from_rgb: list[list[Value]] = [[] for _ in Select]
        from_alpha: list[list[Value]] = [[] for _ in Select]
        for reads, select, swizzle in self._operands(needed):
            used = Signal()
            m.d.comb += used.eq(reads)
            for source in Select:
                chosen = used & (Value.cast(select) == source.value)
                from_rgb[source.value].append(chosen & (Value.cast(swizzle) < Swizzle.A.value))
                from_alpha[source.value].append(chosen & (Value.cast(swizzle) == Swizzle.A.value))
        takes_a = self._computes_alpha(needed) | (self._dots(needed) & self._rgb(_takes_product(_ALPHA)))
        from_rgb[0].append(needed[:_ALPHA].any() & self._rgb(_is_derivative))
        from_alpha[0].append(takes_a & self._alpha(_is_derivative))

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

    def _rgb(self, holds: _Fact) -> Value:
        """Whether a property of operations holds for the RGB unit's."""
        code = Value.cast(RGBA_INST(self.words[5]).rgb_op)
        return code.matches(*(own.value for own, operation in RGB.items() if holds(operation)))

    def _alpha(self, holds: _Fact) -> Value:
        code = Value.cast(ALPHA_INST(self.words[4]).op)
        return code.matches(*(own.value for own, operation in ALPHA.items() if holds(operation)))

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
        return (needed[:_ALPHA].any() & self._rgb(_is_dot)) | (needed[_ALPHA] & self._alpha(_copies_other))

    def _computes_alpha(self, needed: Signal) -> Value:
        """Whether the alpha unit's own result is wanted."""
        return (needed[_ALPHA] | (needed[:_ALPHA].any() & self._rgb(_copies_other))) & ~self._alpha(_copies_other)

    def _operands(self, needed: Signal) -> list[tuple[Value, Value, Value]]:
        """Each operand: whether it is read, its select and its swizzle."""
        rgb, alpha, both = RGB_INST(self.words[3]), ALPHA_INST(self.words[4]), RGBA_INST(self.words[5])
        dot, own = self._dots(needed), self._computes_alpha(needed)
        operands = []
        for channel, color in enumerate(_COLORS):
            product, addend = (dot & self._rgb(takes(channel)) for takes in (_takes_product, _takes_addend))
            for operand, word, select, of_dot in (
                ("a", rgb, rgb.sel_a, product),
                ("b", rgb, rgb.sel_b, product),
                ("c", both, both.rgb_sel_c, addend),
            ):
                used = (needed[channel] & self._rgb(_reads(operand))) | of_dot
                operands.append((used, select, word[f"{color}_swiz_{operand}"]))
        fourth = dot & self._rgb(_takes_product(_ALPHA))
        return [
            *operands,
            ((own & self._alpha(_reads("a"))) | (fourth & ~self._alpha(_is_derivative)), alpha.sel_a, alpha.swiz_a),
            ((own & self._alpha(_reads("b"))) | fourth, alpha.sel_b, alpha.swiz_b),
            (own & self._alpha(_reads("c")), both.alpha_sel_c, both.alpha_swiz_c),
        ]


def _is_dot(operation: Arithmetic) -> bool:
    return operation.is_dot


def _is_derivative(operation: Arithmetic) -> bool:
    return operation.is_derivative


def _copies_other(operation: Arithmetic) -> bool:
    return operation.copies_other


def _reads(operand: str) -> _Fact:
    """Whether each channel reads an operand of its own."""
    return lambda operation: not operation.is_dot and operand in operation.reads


def _takes_product(channel: int) -> _Fact:
    return lambda operation: channel in operation.products


def _takes_addend(channel: int) -> _Fact:
    return lambda operation: channel in operation.addends

"""The results of an ALU or OUTPUT instruction that a pixel writes.

Source: CTM Guide pp. 29-32.
"""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.fp.zero_comparison import Comparison
from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r5xx.instruction import ALPHA_INST, COMMON, INSTRUCTION, RGB_INST
from ctm.rtl.isa.r5xx.limits import SCALAR
from ctm.rtl.isa.r5xx.opcodes import InstructionType, ZeroTest
from ctm.rtl.r5xx.predication import gates

_HOLDS = {
    ZeroTest.EQUAL: "equal",
    ZeroTest.LESS: "less",
    ZeroTest.GREATER_EQUAL: "greater_equal",
    ZeroTest.NOT_EQUAL: "not_equal",
}


class Writeback(wiring.Component):
    """Gates the writes of one pixel. Combinational.

    Members
    -------
    words : ``In(INSTRUCTION)``
    active : ``In(1)``
    predicates : ``In(4)``
        Red in bit 0, as they were when the instruction was issued.
    comparisons : ``In(ArrayLayout(Comparison, 4))``
        The results against zero.
    temporary_enable, output_enable : ``Out(4)``
        Channels of the temporary and of the output register that are written.
    next_predicates : ``Out(4)``
    alu_result_enable, alu_result : ``Out(1)``
    conditional_enable : ``Out(1)``
        Whether an OUTPUT sets the conditional value, where the program supplies it.
    uncached_enable : ``Out(1)``
        Whether an OUTPUT of an uncached-write program writes: with the predicates of red, green and blue.
    """

    words: In(INSTRUCTION)
    active: In(1)
    predicates: In(CHANNELS)
    comparisons: In(data.ArrayLayout(Comparison, CHANNELS))
    temporary_enable: Out(CHANNELS)
    output_enable: Out(CHANNELS)
    next_predicates: Out(CHANNELS)
    alu_result_enable: Out(1)
    alu_result: Out(1)
    conditional_enable: Out(1)
    uncached_enable: Out(1)

    latency = 0

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        common, rgb, alpha = COMMON(self.words[0]), RGB_INST(self.words[3]), ALPHA_INST(self.words[4])
        is_output = Value.cast(common.type) == InstructionType.OUTPUT.value
        gate = gates(m, common, self.predicates)
        strict = gate & self.active.replicate(CHANNELS)
        free = gate & (self.active | common.write_inactive).replicate(CHANNELS)
        wmask = Cat(common.rgb_wmask, common.alpha_wmask)
        omask = Cat(common.rgb_omask, common.alpha_omask)

        m.d.comb += [
            self.temporary_enable.eq(wmask & free),
            self.output_enable.eq(Mux(is_output, omask & strict, 0)),
            self.conditional_enable.eq(is_output & alpha.w_omask & strict[SCALAR]),
            self.uncached_enable.eq(is_output & omask.all() & strict[:SCALAR].all()),
            self.alu_result_enable.eq(
                ~is_output & rgb.alu_wmask & Mux(common.alu_result_sel, strict[SCALAR], strict[0])
            ),
            self.alu_result.eq(
                Mux(
                    common.alu_result_sel,
                    self._holds(m, SCALAR, Value.cast(common.alu_result_op)),
                    self._holds(m, 0, Value.cast(common.alu_result_op)),
                )
            ),
        ]
        for channel in range(CHANNELS):
            target = alpha.target if channel == SCALAR else rgb.target
            writes = ~is_output & omask[channel] & free[channel]
            bit = Mux(writes, self._holds(m, channel, target), self.predicates[channel])
            m.d.comb += self.next_predicates[channel].eq(bit)
        return m

    def _holds(self, m: Module, channel: int, test: Value) -> Signal:
        """Whether a test of a channel's result holds."""
        result = Signal(name="holds")
        with m.Switch(test):
            for code, name in _HOLDS.items():
                with m.Case(code.value):
                    m.d.comb += result.eq(self.comparisons[channel][name])
        return result

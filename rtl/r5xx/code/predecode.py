"""What follows from an instruction's words alone, decoded when it is loaded.

Source: CTM Guide pp. 23-38.
"""

from amaranth import Cat, Module, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.isa.r5xx.instruction import COMMON, INSTRUCTION, RGB_INST
from ctm.rtl.isa.r5xx.limits import ALU_SOURCES
from ctm.rtl.isa.r5xx.opcodes import ACQUIRING, InstructionType, PredicateSelect
from ctm.rtl.r5xx.code.alu_control import AluControl
from ctm.rtl.r5xx.code.source_use import SourceUse
from ctm.rtl.r5xx.entries import LaneControl
from ctm.rtl.r5xx.shapes import SUMMARY, Unit


class Predecode(wiring.Component):
    """Decodes an instruction as far as it does not depend on a wavefront. Combinational.

    Members
    -------
    words : ``In(INSTRUCTION)``
    uncached_writes : ``In(1)``
    summary : ``Out(SUMMARY)``
    presubtracts : ``Out(1)``
        It enters the lanes after the presubtract units.
    control : ``Out(LaneControl)``
    rgb_use, alpha_use : ``Out(3)``
        Sources that an ALU instruction needs.
    illegal : ``Out(1)``
        For ALU, OUTPUT and TEX; the flow port checks an instruction when it executes it.
    """

    words: In(INSTRUCTION)
    uncached_writes: In(1)
    summary: Out(SUMMARY)
    presubtracts: Out(1)
    control: Out(LaneControl)
    rgb_use: Out(ALU_SOURCES)
    alpha_use: Out(ALU_SOURCES)
    illegal: Out(1)

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.alu_control = alu_control = AluControl()
        m.submodules.source_use = source_use = SourceUse()
        common = COMMON(self.words[0])
        kind = Value.cast(common.type)
        is_texture, is_flow = kind == InstructionType.TEX.value, kind == InstructionType.FC.value
        selects = [Value.cast(common.rgb_pred_sel), Value.cast(common.alpha_pred_sel)]
        illegal_texture = Cat(select > PredicateSelect.AAAA.value for select in selects).any()
        writes = (
            self.uncached_writes
            & (kind == InstructionType.OUTPUT.value)
            & Cat(common.rgb_omask, common.alpha_omask).any()
        )
        m.d.comb += [
            alu_control.words.eq(self.words),
            alu_control.uncached_writes.eq(self.uncached_writes),
            source_use.words.eq(self.words),
            self.control.eq(alu_control.control),
            self.rgb_use.eq(source_use.rgb),
            self.alpha_use.eq(source_use.alpha),
            self.summary.writes.eq(writes),
            self.summary.waits.eq(common.tex_sem_wait | (writes & RGB_INST(self.words[3]).target.matches(*ACQUIRING))),
        ]
        with m.If(is_flow):
            m.d.comb += self.summary.unit.eq(Unit.FLOW.value)
        with m.Elif(is_texture):
            m.d.comb += self.illegal.eq(illegal_texture)
        with m.Else():
            m.d.comb += [
                self.illegal.eq(alu_control.illegal),
                self.presubtracts.eq(source_use.presubtract),
                self.summary.direct.eq(~source_use.presubtract),
            ]
        with m.If(self.illegal):
            # It faults without executing.
            m.d.comb += [self.summary.eq(0), self.summary.unit.eq(Unit.FLOW.value), self.presubtracts.eq(0)]
        with m.Elif(is_texture):
            m.d.comb += self.summary.unit.eq(Unit.TEXTURE.value)
        return m

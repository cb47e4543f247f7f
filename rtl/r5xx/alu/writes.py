"""Where the results of an ALU or OUTPUT instruction go.

Source: CTM Guide pp. 29-32.
"""

from amaranth import Cat, Module, Mux, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import words_layout
from ctm.rtl.config import MachineConfig
from ctm.rtl.dpp.groups.scheduling import slot_bits
from ctm.rtl.dpp.registers.file import place_layout
from ctm.rtl.dpp.registers.outputs import output_write_layout
from ctm.rtl.fp.zero_comparison import Comparison
from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r5xx.instruction import ALPHA_INST, RGB_INST
from ctm.rtl.isa.r5xx.limits import SCALAR
from ctm.rtl.r5xx.alu.token import processors_layout, token_layout, written_layout
from ctm.rtl.r5xx.alu.uncached_pairs import uncached_layout
from ctm.rtl.r5xx.alu.writeback import Writeback
from ctm.rtl.r5xx.shapes import PROGRAM, SHAPES
from ctm.rtl.r5xx.state import flags_layout, lane_predicates


class AluWrites(wiring.Component):
    """Gates the writes of all lanes: to temporaries, flags, outputs and memory. Combinational.

    Members
    -------
    valid : ``In(1)``
        An instruction's results are there.
    token : ``In(token_layout(config))``
    group : ``In(processors_layout(lanes))``
        The group's processors, as they were when the instruction was issued.
    program : ``In(PROGRAM)``
    results, comparisons
        The ALU's.
    result_places, result_enable, flags, outputs, uncached, written
        The port's.
    """

    def __init__(self, config: MachineConfig) -> None:
        array, lanes = config.array, config.array.lanes
        self._lanes = lanes
        flags = data.StructLayout({"valid": 1, "slot": slot_bits(array), "flags": flags_layout(lanes)})
        super().__init__(
            {
                "valid": In(1),
                "token": In(token_layout(config)),
                "group": In(processors_layout(lanes)),
                "program": In(PROGRAM),
                "results": In(words_layout(lanes)),
                "comparisons": In(data.ArrayLayout(data.ArrayLayout(Comparison, CHANNELS), lanes)),
                "result_places": Out(data.ArrayLayout(place_layout(array), len(SHAPES.parts))),
                "result_enable": Out(data.ArrayLayout(CHANNELS, lanes)),
                "flags": Out(flags),
                "outputs": Out(output_write_layout(array, SHAPES)),
                "uncached": Out(uncached_layout(array)),
                "written": Out(written_layout(array)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        token, slot = self.token, self.token.row[:-1]
        effective = self.valid & ~token.again & ~token.refused
        rgb_inst, alpha_inst = RGB_INST(token.words[3]), ALPHA_INST(token.words[4])
        m.d.comb += [
            self.result_places[0].eq(token.rgb.place),
            self.result_places[1].eq(token.alpha.place),
            self.flags.valid.eq(effective & ~token.has_left),
            self.flags.slot.eq(slot),
            self.outputs.row.eq(token.row),
            self.outputs.targets[0].eq(rgb_inst.target),
            self.outputs.targets[1].eq(alpha_inst.target),
            self.outputs.words.eq(self.results),
            # One that was refused was announced, so it has to come; its mask is empty.
            self.uncached.valid.eq(self.valid & token.writes_uncached & (effective | token.refused)),
            self.uncached.slot.eq(slot),
            self.uncached.target.eq(rgb_inst.target),
            self.uncached.words.eq(self.results),
            self.uncached.eligible.eq(self.group.active & self.group.covered),
            self.written.valid.eq(effective),
            self.written.row.eq(token.row),
            self.written.pc.eq(token.pc),
            self.written.rgb_register.eq(token.rgb.register),
            self.written.alpha_register.eq(token.alpha.register),
        ]
        predicates = [self._lane(m, lane, effective) for lane in range(self._lanes)]
        m.d.comb += self.flags.flags.predicates.eq(
            Cat(lane[channel] for channel in range(CHANNELS) for lane in predicates)
        )
        return m

    def _lane(self, m: Module, lane: int, effective: Value) -> Value:
        """Connect the writes of a lane; give its predicates."""
        token, group, program = self.token, self.group, self.program
        exists = Cat(token.rgb.exists.replicate(SCALAR), token.alpha.exists)
        keeps_outputs = effective & ~program.uncached_writes
        keeps_conditional = effective & program.conditional_from_program
        m.submodules[f"writeback_{lane}"] = unit = Writeback()
        m.d.comb += [
            unit.words.eq(token.words),
            unit.active.eq(group.active[lane]),
            unit.predicates.eq(lane_predicates(group, lane, self._lanes)),
            unit.comparisons.eq(self.comparisons[lane]),
            self.written.enable[lane].eq(unit.temporary_enable & exists),
            self.result_enable[lane].eq(Mux(effective & ~token.has_left, self.written.enable[lane], 0)),
            self.outputs.enable[lane].eq(Mux(keeps_outputs, unit.output_enable, 0)),
            self.outputs.conditional[lane].eq(unit.conditional_enable & keeps_conditional),
            self.outputs.values[lane].eq(self.results[lane][SCALAR]),
            self.uncached.mask[lane].eq(effective & unit.uncached_enable & group.covered[lane] & group.live[lane]),
            self.flags.flags.alu_result[lane].eq(Mux(unit.alu_result_enable, unit.alu_result, group.alu_result[lane])),
        ]
        return Value.cast(unit.next_predicates)

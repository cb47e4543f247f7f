"""Writes of the results of an ALU or OUTPUT instruction.

Source: CTM Guide pp. 29-32.
"""

from amaranth import Cat, Const, Module, Mux, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import words_layout
from ctm.rtl.config import MachineConfig
from ctm.rtl.dpp.beats import beat_members, gathered, is_last, lanes_of
from ctm.rtl.dpp.registers.file import entry_bits
from ctm.rtl.dpp.registers.outputs import OutputSizes, output_write_layout
from ctm.rtl.dpp.wavefronts.scheduling import wave_bits
from ctm.rtl.fp.zero_comparison import Comparison
from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r5xx.instruction import ALPHA_INST, RGB_INST
from ctm.rtl.isa.r5xx.limits import SCALAR
from ctm.rtl.lib.views import record
from ctm.rtl.r5xx.alu.token import pixels_layout, token_layout, written_layout
from ctm.rtl.r5xx.alu.uncached_pairs import uncached_layout
from ctm.rtl.r5xx.alu.writeback import Writeback
from ctm.rtl.r5xx.shapes import PROGRAM, SHAPES
from ctm.rtl.r5xx.state import flags_layout, lane_predicates


class AluWrites(wiring.Component):
    """Gates the writes of all lanes: to temporaries, flags, outputs and memory. Combinational.

    With several beats it has the lanes of one beat in each cycle; flags are written with the last.

    Members
    -------
    valid : ``In(1)``
        An instruction's results are there.
    beat, result_beat : ``In``, ``Out``
        The beat of the results, and of their writes; only with several beats.
    token : ``In(token_layout(config))``
    wavefront : ``In(pixels_layout(lanes))``
        The wavefront's pixels, as they were when the instruction was issued.
    program : ``In(PROGRAM)``
    results, comparisons
        The ALU's.
    result_entries, flags, outputs, uncached, written
        The port's.
    """

    def __init__(self, config: MachineConfig) -> None:
        array, lanes = config.array, config.array.lanes
        self._array, self._lanes = array, array.at_once
        flags = data.StructLayout({"valid": 1, "wave": wave_bits(array), "flags": flags_layout(lanes)})
        super().__init__(
            {
                "valid": In(1),
                "token": In(token_layout(config)),
                "wavefront": In(pixels_layout(lanes)),
                "program": In(PROGRAM),
                "results": In(words_layout(array.at_once)),
                "comparisons": In(data.ArrayLayout(data.ArrayLayout(Comparison, CHANNELS), array.at_once)),
                "result_entries": Out(data.ArrayLayout(entry_bits(array), len(SHAPES.register_fields))),
                **beat_members(array, In, "beat"),
                **beat_members(array, Out, "result_beat"),
                "flags": Out(flags),
                "outputs": Out(output_write_layout(OutputSizes.of(array), SHAPES)),
                "uncached": Out(uncached_layout(array)),
                "written": Out(written_layout(array)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        token, wave = self.token, self.token.context[:-1]
        wavefront, flags, last = self._beat(m)
        effective = self.valid & ~token.again & ~token.error
        keeps_wave = effective & ~token.vacated
        rgb_inst, alpha_inst = RGB_INST(token.words[3]), ALPHA_INST(token.words[4])
        m.d.comb += [
            self.result_entries[0].eq(token.rgb.address.entry),
            self.result_entries[1].eq(token.alpha.address.entry),
            self.flags.valid.eq(keeps_wave & last if self._array.beats > 1 else keeps_wave),
            self.flags.wave.eq(wave),
            self.outputs.context.eq(token.context),
            self.outputs.targets[0].eq(rgb_inst.target),
            self.outputs.targets[1].eq(alpha_inst.target),
            self.outputs.words.eq(self.results),
            # A write whose constant had an error response was announced, so it has to come; its mask is empty.
            self.uncached.valid.eq(self.valid & token.writes_uncached & (effective | token.error)),
            self.uncached.wave.eq(wave),
            self.uncached.target.eq(rgb_inst.target),
            self.uncached.words.eq(self.results),
            self.uncached.eligible.eq(wavefront.active & wavefront.covered),
            self.written.valid.eq(effective),
            self.written.context.eq(token.context),
            self.written.pc.eq(token.pc),
            self.written.rgb_register.eq(token.rgb.register),
            self.written.alpha_register.eq(token.alpha.register),
        ]
        predicates = [self._lane(m, lane, effective, wavefront, flags) for lane in range(self._lanes)]
        m.d.comb += flags.predicates.eq(Cat(lane[channel] for channel in range(CHANNELS) for lane in predicates))
        return m

    def _beat(self, m: Module) -> tuple[data.View, data.View, Value]:
        """State of the beat's pixels, their flags to be set, and whether the beat is the last one."""
        array, whole, flags = self._array, self.wavefront, self.flags.flags
        if array.beats == 1:
            return whole, flags, Const(1)
        beat = self.beat
        own = record(pixels_layout(self._lanes), name="own")
        own_flags = record(flags_layout(self._lanes), name="own_flags")
        simple = (name for name, _ in own.shape() if name != "predicates")
        before = (whole.predicates.word_select(channel, array.lanes) for channel in range(CHANNELS))
        after = (own_flags.predicates.word_select(channel, self._lanes) for channel in range(CHANNELS))
        m.d.comb += [
            *(own[name].eq(lanes_of(array, whole[name], beat)) for name in simple),
            own.predicates.eq(Cat(lanes_of(array, bits, beat) for bits in before)),
            flags.predicates.eq(Cat(gathered(m, array, bits) for bits in after)),
            flags.alu_result.eq(gathered(m, array, own_flags.alu_result)),
            self.result_beat.eq(beat),
            self.outputs.beat.eq(beat),
            self.written.beat.eq(beat),
        ]
        return own, own_flags, is_last(array, beat)

    def _lane(self, m: Module, lane: int, effective: Value, wavefront: data.View, flags: data.View) -> Value:
        """Connect the writes of a lane; give its predicates."""
        token, program = self.token, self.program
        exists = Cat(token.rgb.exists.replicate(SCALAR), token.alpha.exists)
        keeps_outputs = effective & ~program.uncached_writes
        keeps_conditional = effective & program.conditional_from_program
        m.submodules[f"writeback_{lane}"] = unit = Writeback()
        m.d.comb += [
            unit.words.eq(token.words),
            unit.active.eq(wavefront.active[lane]),
            unit.predicates.eq(lane_predicates(wavefront, lane, self._lanes)),
            unit.comparisons.eq(self.comparisons[lane]),
            self.written.enable[lane].eq(unit.temporary_enable & exists),
            self.outputs.enable[lane].eq(Mux(keeps_outputs, unit.output_enable, 0)),
            self.outputs.conditional[lane].eq(unit.conditional_enable & keeps_conditional),
            self.outputs.values[lane].eq(self.results[lane][SCALAR]),
            self.uncached.mask[lane].eq(
                effective & unit.uncached_enable & wavefront.covered[lane] & wavefront.valid_mask[lane]
            ),
            flags.alu_result[lane].eq(Mux(unit.alu_result_enable, unit.alu_result, wavefront.alu_result[lane])),
        ]
        return Value.cast(unit.next_predicates)

"""The issue port of ALU and OUTPUT instructions: from the instruction to what it writes.

Source: CTM Guide pp. 26-32.
"""

from functools import reduce
from operator import or_
from typing import Any

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import ConstantBank, words_layout
from ctm.rtl.config import MachineConfig
from ctm.rtl.dpp.beats import Taken, beat_members, counted, is_last, keep, take
from ctm.rtl.dpp.constants.loader import CONSTANT_WRITE, LINES, miss_layout
from ctm.rtl.dpp.registers.file import BANKS, register_address_layout
from ctm.rtl.dpp.registers.outputs import OutputSizes, output_write_layout
from ctm.rtl.dpp.registers.placement import ALLOCATION, Placement
from ctm.rtl.dpp.wavefronts.scheduling import IssuePort, context_bits, wave_bits
from ctm.rtl.dpp.wavefronts.state import wavefront_state_layout
from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r5xx.instruction import COMMON, RGB_INST
from ctm.rtl.isa.r5xx.limits import ALU_SOURCES
from ctm.rtl.isa.r5xx.opcodes import ACQUIRING
from ctm.rtl.lib.pipeline import delay, delay_held, delay_valid
from ctm.rtl.lib.ram import DistributedRam
from ctm.rtl.lib.views import record
from ctm.rtl.r5xx.alu.alu import Alu
from ctm.rtl.r5xx.alu.beat_alu import BeatAlu
from ctm.rtl.r5xx.alu.entrance import Entered, Instruction, beats_latency, enter, enter_in_beats
from ctm.rtl.r5xx.alu.sources import FLOAT_LINES, Sources
from ctm.rtl.r5xx.alu.token import processors_layout, set_destinations, token_layout, written_layout
from ctm.rtl.r5xx.alu.uncached_pairs import uncached_layout
from ctm.rtl.r5xx.alu.writes import AluWrites
from ctm.rtl.r5xx.entries import ALU_ENTRY, VECTOR
from ctm.rtl.r5xx.shapes import PROGRAM, SHAPES
from ctm.rtl.r5xx.state import flags_layout

_WRITES = ("result_addresses", "result_enable", "flags", "outputs", "uncached", "written")


class AluPort(wiring.Component):
    """Executes ALU and OUTPUT instructions.

    One instruction per cycle: a direct one only while `ready_direct`, one that presubtracts at any time. Its results
    are written `latency` cycles after its issue, or `presubtracted_latency`; the wavefront's next one may be issued in
    that cycle. An instruction that misses a constant writes nothing, and is issued again. If a wavefront vacates its
    wave slot, its last instruction writes outputs and memory, but nothing of the wave slot.

    With several beats an instruction is issued only while `ready`, once in as many cycles; its lanes are read and
    written in beats, and the latencies are those of the last one.

    Members
    -------
    scheduler : ``In(IssuePort(config, SHAPES))``
    ready_direct : ``Out(1)``
    ready, source_beat, result_beat : ``Out``
        Whether an instruction may be issued; the beats of the sources and of the results. Only with several beats.
    entry : ``In(ALU_ENTRY)``
        The instruction, from the cycle after its issue on until the next one is read.
    program : ``In(PROGRAM)``
    allocation : ``In(ALLOCATION)``
    reads : ``Out(1)``
        What is issued in this cycle is read for the next one.
    wavefront : ``In``
        The wavefront's state, in these cycles.
    wave, second : ``Out``, ``In(1)``
        Which of the wave slot's contexts the wavefront has.
    loaded, constant_write, miss
        The constant loader's.
    source_addresses, temporaries, result_addresses, results, result_writes, reserved, result_enable
        The register file's.
    flags : ``Out({valid, wave, flags})``
    outputs : ``Out(output_write_layout(OutputSizes.of(array), SHAPES))``
    acquiring : ``Out({valid, wave})``
        An acquiring write is in flight; two cycles after its issue.
    announced : ``Out(1)``
        An uncached write is in flight; likewise.
    uncached : ``Out(uncached_layout(config))``
    ending : ``Out({valid, wave})``
        A wavefront's last instruction has all that it needs; two cycles after its issue.
    vacates : ``In(1)``
        That wavefront vacates its wave slot. Then there is no `done`.
    vacated : ``Out({valid, context})``
        As `done`, of a wavefront that has vacated its wave slot.
    started : ``Out(1)``
        An instruction was issued that will not be issued again; likewise.
    written : ``Out(written_layout(config))``
    """

    def __init__(self, config: MachineConfig) -> None:
        self._config, self._writes = config, AluWrites(config)
        array, lanes = config.array, config.array.lanes
        self._alu: Alu | BeatAlu
        if array.beats > 1:
            self._alu = BeatAlu(array, config.arithmetic, config.presubtract)
        else:
            self._alu = Alu(array.at_once, config.arithmetic, config.presubtract)
        self.latency = 2 + self._alu.direct_latency + beats_latency(array)
        self.presubtracted_latency = self.latency + self._alu.presubtract_latency
        wave, state = wave_bits(array), wavefront_state_layout(SHAPES, lanes)
        at_wave = {"valid": 1, "wave": wave}
        addresses = data.ArrayLayout(
            data.ArrayLayout(register_address_layout(array), ALU_SOURCES), len(SHAPES.register_fields)
        )
        super().__init__(
            {
                "scheduler": In(IssuePort(array, SHAPES)),
                "ready_direct": Out(1),
                **({"ready": Out(1)} if array.beats > 1 else {}),
                **beat_members(array, Out, "source_beat", "result_beat"),
                "entry": In(ALU_ENTRY),
                "program": In(PROGRAM),
                "allocation": In(ALLOCATION),
                "reads": Out(1),
                "wave": Out(wave),
                "wavefront": In(state),
                "second": In(1),
                "loaded": In(LINES[ConstantBank.FLOAT]),
                "constant_write": In(CONSTANT_WRITE),
                "miss": Out(miss_layout(FLOAT_LINES)),
                "source_addresses": Out(addresses),
                "temporaries": In(data.ArrayLayout(data.ArrayLayout(VECTOR, ALU_SOURCES), array.at_once)),
                "result_addresses": Out(data.ArrayLayout(register_address_layout(array), len(SHAPES.register_fields))),
                "results": Out(words_layout(array.at_once)),
                "result_writes": Out(len(SHAPES.register_fields)),
                "reserved": Out(BANKS),
                "result_enable": Out(data.ArrayLayout(CHANNELS, array.at_once)),
                "flags": Out(data.StructLayout(at_wave | {"flags": flags_layout(lanes)})),
                "outputs": Out(output_write_layout(OutputSizes.of(array), SHAPES)),
                "acquiring": Out(data.StructLayout(at_wave)),
                "announced": Out(1),
                "uncached": Out(uncached_layout(array)),
                "ending": Out(data.StructLayout(at_wave)),
                "vacates": In(1),
                "vacated": Out(data.StructLayout({"valid": 1, "context": context_bits(array)})),
                "started": Out(1),
                "written": Out(written_layout(array)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.alu = alu = self._alu
        m.submodules.sources = sources = Sources(self._config.array)
        array = self._config.array
        taken = take(m, array, self.scheduler.issue)
        issued = taken.issue
        presubtracts = Signal()
        m.d.comb += [
            self.reads.eq(taken.ready),
            self.wave.eq(issued.wave),
            presubtracts.eq(issued.valid & self.entry.presubtracts),
        ]
        self._connect_sources(m, sources)
        valid, missing = taken.first, sources.missing
        token = self._token(m, issued, missing)
        states = DistributedRam(processors_layout(self._config.array.lanes), 1 << len(token.context))
        m.submodules.states = states
        states.write(m, token.context, Cat(Value.cast(self.wavefront[name]) for name, _ in states.shape), valid)
        at_sources, read = Signal.like(token), keep(m, array, token, valid, name="token")
        self._announce(m, read, valid)
        issued_before = Signal()
        m.d.sync += issued_before.eq(taken.last)
        m.d.comb += [
            at_sources.eq(read),
            at_sources.error.eq(sources.error),
            at_sources.vacated.eq(self.vacates),
            self.ending.valid.eq(issued_before & read.ends & ~read.again & ~sources.error),
            self.ending.wave.eq(read.context[:-1]),
        ]
        control = Signal.like(self.entry.control)
        m.d.comb += [
            control.eq(self.entry.control),
            control.zero_times_anything.eq(self.program.zero_times_anything),
        ]
        instruction = Instruction(token=at_sources, control=keep(m, array, control, valid, name="control"))
        if isinstance(alu, BeatAlu):
            entered = enter_in_beats(
                m, array, alu, taken, presubtracts,
                complete=issued_before, read=instruction, sources=sources.sources,
            )  # fmt: skip
        else:
            entered = enter(m, alu, taken, presubtracts, read=instruction, sources=sources.sources)
        m.d.comb += self.ready_direct.eq(entered.free)
        writing, at_write = self._connect_pipeline(m, alu, taken, entered)
        self._connect_writes(m, alu, writing, at_write, states.read(m, at_write.context))
        return m

    def _connect_sources(self, m: Module, sources: Sources) -> None:
        m.d.comb += [
            sources.entry.eq(self.entry),
            sources.wave.eq(self.wave),
            sources.loop_index.eq(self.wavefront.loop_index),
            sources.allocation.eq(self.allocation),
            sources.loaded.eq(self.loaded),
            sources.write.eq(self.constant_write),
            sources.temporaries.eq(self.temporaries),
            self.source_addresses[0].eq(sources.rgb_addresses),
            self.source_addresses[1].eq(sources.alpha_addresses),
        ]
        m.d.sync += self.miss.lines.eq(sources.lines)

    def _announce(self, m: Module, token: data.View, valid: Value) -> None:
        """Announce what the instruction of the cycle before does, as a constant that it misses is known at its end."""
        issued = delay(m, valid, name="first_before")
        m.d.comb += [
            self.miss.valid.eq(issued & token.again),
            self.started.eq(issued & ~token.again),
            self.announced.eq(issued & token.writes_uncached),
            self.acquiring.valid.eq(self.announced & RGB_INST(token.words[3]).target.matches(*ACQUIRING)),
            self.acquiring.wave.eq(token.context[:-1]),
        ]

    def _token(self, m: Module, issued: data.View, missing: Value) -> data.View:
        """The token of an instruction that has been read."""
        entry, wavefront = self.entry, self.wavefront
        token = record(token_layout(self._config))
        placement = Placement(m, self._config.array, issued.wave, self.allocation)
        set_destinations(m, token, entry.words, placement, wavefront.loop_index)
        all_active = ~(wavefront.covered & wavefront.valid_mask & ~wavefront.active).any()
        m.d.comb += [
            token.context.eq(Cat(issued.wave, self.second)),
            token.pc.eq(issued.pc),
            token.following.eq(entry.following),
            token.words.eq(entry.words),
            token.writes_uncached.eq(entry.writes & ~missing),
            token.again.eq(missing),
            token.ends.eq((issued.pc == self.program.end) | (COMMON(entry.words[0]).last & all_active)),
        ]
        return token

    def _connect_pipeline(
        self, m: Module, alu: Alu | BeatAlu, taken: Taken, entered: Entered
    ) -> tuple[Value, data.View]:  # fmt: skip
        """Delay the token until the ALU's results, and until a cycle before that for the wavefront's `done`.

        Gives whether there is an instruction, and its token.
        """
        before, beats = alu.direct_latency - 1, self._config.array.beats
        valid_bits = delay_valid(m, entered.valid, before + 1)
        at_done = delay_held(m, entered.token, entered.first, before, held=beats, name="token_done")
        first = delay_valid(m, entered.first, before)[-1] if beats > 1 else entered.first
        at_write = delay_held(m, at_done, first, 1, held=beats, name="token_write")
        done, ends = self.scheduler.done, self._connect_beats(m, taken, valid_bits[before])
        m.d.comb += [
            done.valid.eq(ends & ~at_done.vacated),
            done.wave.eq(at_done.context[:-1]),
            done.again.eq(at_done.again),
            done.ends.eq(at_done.ends),
            done.faults.eq(at_done.error),
            done.pc.eq(at_done.pc + 1),
            done.following.eq(at_done.following),
            self.vacated.valid.eq(ends & at_done.vacated),
            self.vacated.context.eq(at_done.context),
        ]
        self._reserve(m, valid_bits[before], at_done)
        return valid_bits[before + 1], at_write

    def _reserve(self, m: Module, valid: Value, token: data.View) -> None:
        """Reserve the registers' banks for an instruction whose results come in the next cycle.

        Which processors write follows from the results in that cycle. A bank is reserved if some may write.
        """
        common, writes = COMMON(token.words[0]), Signal(len(SHAPES.register_fields))
        keeps_wave = valid & ~token.again & ~token.error & ~token.vacated
        banks = (token.rgb.address.bank, token.alpha.address.bank)
        m.d.comb += [
            writes.eq(
                Cat(
                    keeps_wave & token.rgb.exists & common.rgb_wmask.any(),
                    keeps_wave & token.alpha.exists & common.alpha_wmask,
                )
            ),
            self.reserved.eq(
                reduce(or_, (Mux(write, 1 << bank, 0) for write, bank in zip(writes, banks, strict=True)))
            ),
        ]
        m.d.sync += self.result_writes.eq(writes)

    def _connect_beats(self, m: Module, taken: Taken, valid: Value) -> Value:
        """Set the beats of the sources and of the results; `valid` comes a cycle before the results, for each beat.

        Gives it for the last one.
        """
        array = self._config.array
        if array.beats == 1:
            return valid
        beat = counted(m, array, valid)
        m.d.comb += [
            self.ready.eq(taken.ready),
            self.source_beat.eq(taken.beat),
            self._writes.beat.eq(delay(m, beat, name="result_beat")),
            self.result_beat.eq(self._writes.result_beat),
        ]
        return valid & is_last(array, beat)

    def _connect_writes(self, m: Module, alu: Any, valid: Value, token: data.View, wavefront: data.View) -> None:
        m.submodules.writes = writes = self._writes
        m.d.comb += [
            writes.valid.eq(valid),
            writes.token.eq(token),
            writes.wavefront.eq(wavefront),
            writes.program.eq(self.program),
            writes.results.eq(alu.results),
            writes.comparisons.eq(alu.comparisons),
            self.results.eq(alu.results),
            *(getattr(self, name).eq(getattr(writes, name)) for name in _WRITES),
        ]

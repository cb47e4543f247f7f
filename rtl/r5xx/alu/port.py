"""The issue port of ALU and OUTPUT instructions: from the instruction to what it writes.

Source: CTM Guide pp. 26-32.
"""

from functools import reduce
from operator import or_

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import ConstantBank
from ctm.rtl.border.interface import Interface
from ctm.rtl.config import ArrayConfig, MachineConfig
from ctm.rtl.dpp.beats import Taken, counted, is_last, keep, take
from ctm.rtl.dpp.constants.loader import LoaderClient
from ctm.rtl.dpp.registers.file import OperandRead, ResultWrite
from ctm.rtl.dpp.registers.outputs import OutputSizes, output_write_layout
from ctm.rtl.dpp.registers.placement import ALLOCATION, Placement
from ctm.rtl.dpp.wavefronts.scheduling import IssuePort, Vacating, context_bits, wave_bits
from ctm.rtl.dpp.wavefronts.state import wavefront_state_layout
from ctm.rtl.isa.r5xx.instruction import COMMON, RGB_INST
from ctm.rtl.isa.r5xx.opcodes import ACQUIRING
from ctm.rtl.lib.pipeline import delay, delay_held, delay_valid
from ctm.rtl.lib.ram import DistributedRam
from ctm.rtl.lib.views import record
from ctm.rtl.r5xx.alu.alu import Alu
from ctm.rtl.r5xx.alu.beat_alu import BeatAlu
from ctm.rtl.r5xx.alu.entrance import Entered, Instruction, beats_latency, enter, enter_in_beats
from ctm.rtl.r5xx.alu.sources import FLOAT_LINES, Sources
from ctm.rtl.r5xx.alu.token import pixels_layout, set_destinations, token_layout, written_layout
from ctm.rtl.r5xx.alu.uncached_pairs import uncached_layout
from ctm.rtl.r5xx.alu.writes import AluWrites
from ctm.rtl.r5xx.entries import ALU_ENTRY, EntryRead
from ctm.rtl.r5xx.shapes import PROGRAM, SHAPES
from ctm.rtl.r5xx.state import flags_layout


class WavefrontPort(Interface):
    """The wavefront whose instruction the port has read, and the flags that it writes later, seen from the port.

    Members
    -------
    wave : ``Out``
        Its wave slot.
    second : ``In(1)``
        It has the second context of the wave slot.
    state : ``In(wavefront_state_layout(SHAPES, lanes))``
    flags : ``Out({valid, wave, flags})``
        Flags that an instruction writes, with its results.
    """

    def __init__(self, config: ArrayConfig) -> None:
        state = wavefront_state_layout(SHAPES, config.lanes)
        flags = data.StructLayout({"valid": 1, "wave": wave_bits(config), "flags": flags_layout(config.lanes)})
        super().__init__({"wave": Out(wave_bits(config)), "second": In(1), "state": In(state), "flags": Out(flags)})


class Readiness(Interface):
    """Whether an instruction may be issued, seen from the port.

    Members
    -------
    direct : ``Out(1)``
        One that does not presubtract.
    any : ``Out(1)``
        One of either kind. Only with several beats; else one may be issued in each cycle.
    """

    def __init__(self, config: ArrayConfig) -> None:
        super().__init__({"direct": Out(1), **({"any": Out(1)} if config.beats > 1 else {})})


class UncachedResults(Interface):
    """Uncached writes, seen from the port: each one is announced, so that there is space for it when it comes.

    Members
    -------
    announced : ``Out(1)``
        A write is in flight; two cycles after its issue.
    acquiring : ``Out({valid, wave})``
        It acquires.
    result : ``Out(uncached_layout(config))``
        The write, with the results; the writes come in the order in which they were announced.
    """

    def __init__(self, config: ArrayConfig) -> None:
        acquiring = data.StructLayout({"valid": 1, "wave": wave_bits(config)})
        super().__init__({"announced": Out(1), "acquiring": Out(acquiring), "result": Out(uncached_layout(config))})


class AluPort(wiring.Component):
    """Executes ALU and OUTPUT instructions.

    One instruction per cycle: a direct one only while `ready.direct`, one that presubtracts at any time. Its results
    are written `latency` cycles after its issue, or `presubtracted_latency`; the wavefront's next one may be issued in
    that cycle. An instruction that misses a constant writes nothing, and is issued again. If a wavefront vacates its
    wave slot, its last instruction writes outputs and memory, but nothing of the wave slot.

    With several beats an instruction is issued only while `ready.any`, once in as many cycles; its lanes are read and
    written in beats, and the latencies are those of the last one.

    Members
    -------
    scheduler : ``In(IssuePort(config, SHAPES))``
    ready : ``Out(Readiness(config))``
    instruction : ``Out(EntryRead(ALU_ENTRY, held=True))``
        The instruction, from the cycle after its issue on until the next one is read.
    program : ``In(PROGRAM)``
    allocation : ``In(ALLOCATION)``
    wavefront : ``Out(WavefrontPort(config))``
        The wavefront, in these cycles.
    constants : ``Out(LoaderClient(FLOAT_LINES, ConstantBank.FLOAT))``
    sources : ``Out(OperandRead(config, SHAPES))``
    results : ``Out(ResultWrite(config, SHAPES))``
    outputs : ``Out(output_write_layout(OutputSizes.of(array), SHAPES))``
    uncached : ``Out(UncachedResults(config))``
    vacating : ``Out(Vacating(config))``
        Two cycles after the issue.
    vacated : ``Out({valid, context})``
        As `done`, of a wavefront that has vacated its wave slot.
    started : ``Out(1)``
        An instruction was issued that will not be issued again; two cycles after its issue.
    written : ``Out(written_layout(config))``
    """

    def __init__(self, config: MachineConfig) -> None:
        self._config, self._writes = config, AluWrites(config)
        array = config.array
        self._alu: Alu | BeatAlu
        if array.beats > 1:
            self._alu = BeatAlu(array, config.arithmetic, config.presubtract)
        else:
            self._alu = Alu(array.at_once, config.arithmetic, config.presubtract)
        self.latency = 2 + self._alu.direct_latency + beats_latency(array)
        self.presubtracted_latency = self.latency + self._alu.presubtract_latency
        super().__init__(
            {
                "scheduler": In(IssuePort(array, SHAPES)),
                "ready": Out(Readiness(array)),
                "instruction": Out(EntryRead(ALU_ENTRY, held=True)),
                "program": In(PROGRAM),
                "allocation": In(ALLOCATION),
                "wavefront": Out(WavefrontPort(array)),
                "constants": Out(LoaderClient(FLOAT_LINES, ConstantBank.FLOAT)),
                "sources": Out(OperandRead(array, SHAPES)),
                "results": Out(ResultWrite(array, SHAPES)),
                "outputs": Out(output_write_layout(OutputSizes.of(array), SHAPES)),
                "uncached": Out(UncachedResults(array)),
                "vacating": Out(Vacating(array)),
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
            self.instruction.address.eq(self.scheduler.issue.pc),
            self.instruction.reads.eq(taken.ready),
            self.wavefront.wave.eq(issued.wave),
            presubtracts.eq(issued.valid & self.instruction.entry.presubtracts),
        ]
        self._connect_sources(m, sources)
        valid, missing = taken.first, sources.missing
        token = self._token(m, issued, missing)
        states = DistributedRam(pixels_layout(self._config.array.lanes), 1 << len(token.context))
        m.submodules.states = states
        states.write(m, token.context, Cat(Value.cast(self.wavefront.state[name]) for name, _ in states.shape), valid)
        at_sources, read = Signal.like(token), keep(m, array, token, valid, name="token")
        self._announce(m, read, valid)
        issued_before = Signal()
        m.d.sync += issued_before.eq(taken.last)
        m.d.comb += [
            at_sources.eq(read),
            at_sources.error.eq(sources.error),
            at_sources.vacated.eq(self.vacating.vacates & ~sources.error),
            self.vacating.ending.valid.eq(issued_before & read.ends & ~read.again),
            self.vacating.ending.failed.eq(sources.error),
            self.vacating.ending.wave.eq(read.context[:-1]),
        ]
        control = Signal.like(self.instruction.entry.control)
        m.d.comb += [
            control.eq(self.instruction.entry.control),
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
        m.d.comb += self.ready.direct.eq(entered.free)
        writing, at_write = self._connect_pipeline(m, alu, taken, entered)
        self._connect_writes(m, alu, writing, at_write, states.read(m, at_write.context))
        return m

    def _connect_sources(self, m: Module, sources: Sources) -> None:
        m.d.comb += [
            sources.entry.eq(self.instruction.entry),
            sources.wave.eq(self.wavefront.wave),
            sources.loop_index.eq(self.wavefront.state.loop_index),
            sources.allocation.eq(self.allocation),
            sources.loaded.eq(self.constants.float_loaded),
            sources.write.eq(self.constants.write),
            sources.temporaries.eq(self.sources.operands),
            self.sources.addresses[0].eq(sources.rgb_addresses),
            self.sources.addresses[1].eq(sources.alpha_addresses),
        ]
        m.d.sync += self.constants.miss.lines.eq(sources.lines)

    def _announce(self, m: Module, token: data.View, valid: Value) -> None:
        """Announce what the instruction of the cycle before does, as a constant that it misses is known at its end."""
        issued = delay(m, valid, name="first_before")
        m.d.comb += [
            self.constants.miss.valid.eq(issued & token.again),
            self.started.eq(issued & ~token.again),
            self.uncached.announced.eq(issued & token.writes_uncached),
            self.uncached.acquiring.valid.eq(
                self.uncached.announced & RGB_INST(token.words[3]).target.matches(*ACQUIRING)
            ),
            self.uncached.acquiring.wave.eq(token.context[:-1]),
        ]

    def _token(self, m: Module, issued: data.View, missing: Value) -> data.View:
        """The token of an instruction that has been read."""
        entry, wavefront = self.instruction.entry, self.wavefront.state
        token = record(token_layout(self._config))
        placement = Placement(m, self._config.array, issued.wave, self.allocation)
        set_destinations(m, token, entry.words, placement, wavefront.loop_index)
        all_active = ~(wavefront.covered & wavefront.valid_mask & ~wavefront.active).any()
        m.d.comb += [
            token.context.eq(Cat(issued.wave, self.wavefront.second)),
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

        Which pixels write follows from the results in that cycle. A bank is reserved if some may write.
        """
        common = COMMON(token.words[0])
        keeps_wave = valid & ~token.again & ~token.error & ~token.vacated
        banks = record(self.results.banks.shape(), name="reserved_banks")
        for bank, destination, writes in zip(
            banks, (token.rgb, token.alpha), (common.rgb_wmask.any(), common.alpha_wmask), strict=True
        ):
            m.d.comb += bank.eq(Mux(keeps_wave & destination.exists & writes, 1 << destination.address.bank, 0))
        m.d.comb += self.results.reserved.eq(reduce(or_, banks))
        m.d.sync += self.results.banks.eq(banks)

    def _connect_beats(self, m: Module, taken: Taken, valid: Value) -> Value:
        """Set the beats of the sources and of the results; `valid` comes a cycle before the results, for each beat.

        Gives it for the last one.
        """
        array = self._config.array
        if array.beats == 1:
            return valid
        beat = counted(m, array, valid)
        m.d.comb += [
            self.ready.any.eq(taken.ready),
            self.sources.beat.eq(taken.beat),
            self._writes.beat.eq(delay(m, beat, name="result_beat")),
            self.results.beat.eq(self._writes.result_beat),
        ]
        return valid & is_last(array, beat)

    def _connect_writes(
        self, m: Module, alu: Alu | BeatAlu, valid: Value, token: data.View, wavefront: data.View
    ) -> None:
        m.submodules.writes = writes = self._writes
        m.d.comb += [
            writes.valid.eq(valid),
            writes.token.eq(token),
            writes.wavefront.eq(wavefront),
            writes.program.eq(self.program),
            writes.results.eq(alu.results),
            writes.comparisons.eq(alu.comparisons),
            self.results.words.eq(alu.results),
            self.results.entries.eq(writes.result_entries),
            self.results.enable.eq(writes.written.enable),
            self.uncached.result.eq(writes.uncached),
            self.wavefront.flags.eq(writes.flags),
            self.outputs.eq(writes.outputs),
            self.written.eq(writes.written),
        ]

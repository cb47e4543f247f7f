"""Retirement of wavefronts: the test by the conditional unit, and the outputs.

Source: CTM Guide pp. 17-18, 29; docs/design/r5xx-core.md.
"""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import output_layout
from ctm.rtl.border.conditional import ConditionalClient
from ctm.rtl.dpp.beats import ONLY_BEAT, beat_bits, is_last, lanes_of, pair_of
from ctm.rtl.dpp.program import program_layout
from ctm.rtl.dpp.registers.outputs import ConditionalRead, OutputRead, OutputSizes
from ctm.rtl.dpp.shapes import Shapes
from ctm.rtl.dpp.wavefronts.scheduling import EndedWavefronts
from ctm.rtl.dpp.wavefronts.state import end_state_layout
from ctm.rtl.isa.limits import CHANNELS, WORD_BITS
from ctm.rtl.lib.encoding import lowest_one, one_hot_index
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.lib.register_slice import RegisterSlice, SliceMode
from ctm.rtl.lib.views import record

_QUEUED = 8
"""Wavefronts that may wait for their tests, or for the outputs of earlier ones."""


class Retirement(wiring.Component):
    """Sends the outputs of wavefronts that have ended, one after the other, and frees their contexts.

    Those that vacated their wave slots go first. A wavefront that faulted sends nothing and is not tested; any other
    one is tested first, if the program has tests. Each written output register takes a cycle for each beat. A wavefront
    takes one cycle more, with tests two. A test takes a cycle for each beat and at least two more. Without tests and
    without earlier wavefronts the first output is offered four cycles after `ended` or `vacated`, five if there are
    several beats.

    Members
    -------
    program : ``In(program_layout(shapes))``
    ended : ``In(EndedWavefronts(sizes.context_bits))``
    vacated : ``In({valid, context})``
        A wavefront that has vacated its wave slot ended; at any time, because the FIFO has an entry for each context.
    outputs : ``Out(OutputRead(sizes))``
        Output registers of the wavefront whose outputs are sent, and of the next one.
    state : ``In(end_state_layout(lanes))``
        The state of `outputs.next_context`, in the same cycle.
    conditional : ``Out(ConditionalRead(sizes))``
        Conditional values of the wavefront that is tested.
    tested_state : ``In(end_state_layout(lanes))``
        Its state: that of `conditional.context`, in the same cycle.
    release : ``Out({valid, context, faulted})``
        A cycle after its last output was accepted.
    tester : ``Out(ConditionalClient(lanes))``
    output : ``Out(stream.Signature(output_layout(lanes, outputs)))``
    """

    def __init__(self, sizes: OutputSizes, shapes: Shapes) -> None:
        self._sizes = sizes
        context, lanes = sizes.context_bits, sizes.lanes
        state = end_state_layout(lanes)
        event = data.StructLayout({"valid": 1, "context": context, "faulted": 1})
        super().__init__(
            {
                "program": In(program_layout(shapes)),
                "ended": In(EndedWavefronts(context)),
                "vacated": In(data.StructLayout({"valid": 1, "context": context})),
                "outputs": Out(OutputRead(sizes)),
                "state": In(state),
                "conditional": Out(ConditionalRead(sizes)),
                "tested_state": In(state),
                "release": Out(event),
                "tester": Out(ConditionalClient(lanes)),
                "output": Out(stream.Signature(output_layout(sizes.at_once, sizes.outputs))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        entry = data.StructLayout({"context": self._sizes.context_bits, "faulted": 1, "tested": 1})
        m.submodules.queue = queue = SyncFIFO(width=entry.size, depth=_QUEUED)
        self._test(m, queue, self._choose(m))
        self._send(m, queue, entry)
        return m

    def _choose(self, m: Module) -> stream.Interface:
        """The next wavefront. Those that have vacated their wave slots go first."""
        m.submodules.vacated = vacated = SyncFIFO(width=self._sizes.context_bits, depth=self._sizes.contexts)
        # Ready comes from a register: the scheduler selects a wavefront by it in the same cycle.
        wavefront = self.ended.wavefront
        m.submodules.ended = ended = RegisterSlice(wavefront.shape(), SliceMode.LIGHT)
        chosen = stream.Signature(wavefront.shape()).create()
        m.d.comb += [
            ended.input.valid.eq(wavefront.valid),
            ended.input.payload.eq(wavefront),
            ended.output.ready.eq(chosen.ready & ~vacated.r_rdy),
            vacated.w_en.eq(self.vacated.valid),
            vacated.w_data.eq(self.vacated.context),
            vacated.r_en.eq(chosen.ready),
            self.ended.ready.eq(ended.input.ready),
            chosen.valid.eq(vacated.r_rdy | ended.output.valid),
            chosen.payload.eq(ended.output.payload),
        ]
        with m.If(vacated.r_rdy):
            m.d.comb += [chosen.payload.context.eq(vacated.r_data), chosen.payload.faulted.eq(0)]
        return chosen

    def _test(self, m: Module, queue: SyncFIFO, wavefront: stream.Interface) -> None:
        """Request the tests of the wavefronts that need them."""
        taken, valid = Signal.like(self.ended.wavefront), Signal()
        fetched, values = self._fetch(m, valid)
        request = self.tester.request
        # Values take a cycle at least, so there is time to register the state; a program has its tests long before.
        state, written, tests = (
            delay(m, self.tested_state, name="its_state"),
            delay(m, self.conditional.written, name="its_conditional_written"),
            delay(m, self.program.tests, name="its_tests"),
        )
        m.d.comb += [
            self.conditional.context.eq(taken.context),
            request.valid.eq(valid & fetched & ~taken.faulted & queue.w_rdy),
            request.payload.i.eq(state.i),
            request.payload.j.eq(state.j),
            request.payload.mask.eq(state.covered & state.valid_mask),
        ]
        with m.If(tests):
            m.d.comb += [
                queue.w_data.eq(Cat(taken.context, taken.faulted, ~taken.faulted)),
                queue.w_en.eq(valid & (taken.faulted | (fetched & request.ready))),
                wavefront.ready.eq(~valid),
            ]
        with m.Else():
            m.d.comb += [
                queue.w_data.eq(Cat(wavefront.payload.context, wavefront.payload.faulted)),
                queue.w_en.eq(wavefront.valid),
                wavefront.ready.eq(queue.w_rdy),
            ]
        default = Mux(self.program.conditional_from_program, 0, self.program.conditional_value)
        for lane, value in enumerate(values):
            chosen = Mux(written[lane], value, default)
            m.d.comb += request.payload.values[lane].eq(chosen)
        with m.If(wavefront.valid & ~valid & tests):
            m.d.sync += [valid.eq(1), taken.eq(wavefront.payload)]
        with m.Elif(queue.w_en & queue.w_rdy):
            m.d.sync += valid.eq(0)

    def _fetch(self, m: Module, valid: Value) -> tuple[Value, data.View]:
        """Whether the conditional values of all beats have been read while `valid`, and the values."""
        beats = self._sizes.beats
        # Words of a beat come in the cycle after their read.
        asked, fetched = Signal(range(beats + 1)), Signal(name="fetched")
        values = record(data.ArrayLayout(WORD_BITS, self._sizes.lanes), name="values")
        m.d.comb += fetched.eq(asked == beats)
        with m.If(~valid):
            m.d.sync += asked.eq(0)
        with m.Elif(~fetched):
            m.d.sync += asked.eq(asked + 1)
        if beats == 1:
            m.d.comb += values.eq(self.conditional.values)
            return fetched, values
        own = Value.cast(self.conditional.values)
        earlier = Signal(len(own) * (beats - 1), name="values_earlier", reset_less=True)
        m.d.comb += [self.conditional.beat.eq(Mux(fetched, beats - 1, asked)), values.eq(Cat(earlier, own))]
        with m.If(~fetched):
            m.d.sync += earlier.eq(Cat(earlier, own)[len(own) :])
        return fetched, values

    def _send(self, m: Module, queue: SyncFIFO, entry: data.StructLayout) -> None:
        """Send the outputs of the wavefronts in the queue."""
        sizes, outputs = self._sizes, self._sizes.outputs
        head, response = data.View(entry, queue.r_data), self.tester.response
        # A wavefront is taken from the queue, then its first words are read, then they are offered.
        taken, offered, begins, ends = Signal(), Signal(), Signal(), Signal()
        sent = self._sent(m)
        step = sent.payload
        context, faulted = Signal(sizes.context_bits), Signal()
        passed = Signal(sizes.lanes)
        state = Signal.like(self.state, reset_less=True)
        written = Signal.like(self.outputs.written, reset_less=True)
        # Both outcomes are computed early, because `ready` may come late in the cycle.
        remaining, others = Signal(outputs), Signal(outputs)
        target = _first(remaining)
        beat, passes = self._beats(m, offered & sent.ready & step.stores)
        m.d.comb += [
            others.eq(remaining & (remaining - 1)[:outputs]),
            # A test's result is taken as soon as it comes, whatever `output.ready` is: the next test takes longer.
            response.ready.eq(queue.r_rdy & ~taken & head.tested),
            begins.eq(queue.r_rdy & Mux(head.tested, ~taken & response.valid, ~taken | ends)),
            ends.eq(offered & sent.ready & step.ends),
            queue.r_en.eq(begins),
            self.outputs.next_context.eq(head.context),
            self.outputs.context.eq(context),
            self.outputs.target.eq(Mux(passes, _first(others), target)),
        ]
        m.d.sync += [taken.eq(begins | (taken & ~ends)), offered.eq(taken & ~ends)]
        with m.If(begins):
            m.d.sync += [
                context.eq(head.context),
                faulted.eq(head.faulted),
                state.eq(self.state),
                written.eq(self.outputs.written),
                passed.eq(Mux(head.tested, response.payload.passed, ~0)),
                remaining.eq(
                    Cat(~head.faulted & Value.cast(self.outputs.written[number]).any() for number in range(outputs))
                ),
            ]
        with m.Elif(passes):
            m.d.sync += remaining.eq(others)

        stores = state.covered & state.valid_mask & passed
        own, masks = self._masks(m, written, stores, beat)
        i, j = pair_of(sizes, state, beat)
        m.d.comb += [
            sent.valid.eq(offered),
            step.stores.eq(remaining.any()),
            step.ends.eq(~others.any() & (is_last(sizes, beat) | ~remaining.any())),
            step.context.eq(context),
            step.faulted.eq(faulted),
            step.output.target.eq(target),
            step.output.i.eq(i),
            step.output.j.eq(j),
            step.output.words.eq(self.outputs.words),
            *(step.output.mask[lane].eq(Mux(own[lane], Value.cast(mask), 0)) for lane, mask in enumerate(masks)),
        ]

    def _sent(self, m: Module) -> stream.Interface:
        """The stream of what is sent: beats of outputs; of a wavefront that has none, one that only ends it.

        A wavefront's context is released when its last one is accepted.
        """
        shape = data.StructLayout(
            {
                "output": self.output.payload.shape(),
                "stores": 1,
                "ends": 1,
                "context": self._sizes.context_bits,
                "faulted": 1,
            }
        )
        sent = accepted = stream.Signature(shape).create()
        if self._sizes.beats > 1:
            # One beat is small enough for two registers, so that no read depends on `ready` of the output.
            m.submodules.slice = slice_ = RegisterSlice(shape, SliceMode.FULL)
            sent, accepted = slice_.input, slice_.output
        step, release = accepted.payload, self.release
        m.d.comb += [
            self.output.valid.eq(accepted.valid & step.stores),
            self.output.payload.eq(step.output),
            accepted.ready.eq(self.output.ready | ~step.stores),
        ]
        m.d.sync += [
            release.valid.eq(accepted.valid & accepted.ready & step.ends),
            release.context.eq(step.context),
            release.faulted.eq(step.faulted),
        ]
        return sent

    def _beats(self, m: Module, sends: Value) -> tuple[Value, Value]:
        """The beat that is being sent, and whether that is an output register's last one."""
        sizes = self._sizes
        if sizes.beats == 1:
            return ONLY_BEAT, sends
        beat, upcoming = Signal(beat_bits(sizes)), Signal(beat_bits(sizes), name="upcoming_beat")
        m.d.comb += [upcoming.eq(beat + sends), self.outputs.beat.eq(upcoming)]
        m.d.sync += beat.eq(upcoming)
        return beat, sends & is_last(sizes, beat)

    def _masks(self, m: Module, written: data.View, stores: Value, beat: Value) -> tuple[Value, data.View]:
        """The storing lanes of a beat, and the channels that they have written.

        The channels are registered with the address of the words, so that they pass the output in the next cycle.
        """
        sizes, channels = self._sizes, written[self.outputs.target]
        masks = record(data.ArrayLayout(CHANNELS, sizes.at_once), name="masks", reset_less=True)
        if sizes.beats == 1:
            m.d.sync += masks.eq(channels)
            return stores, masks
        own = Signal(sizes.at_once, name="stores")
        m.d.comb += own.eq(lanes_of(sizes, stores, beat))
        m.d.sync += masks.eq(lanes_of(sizes, channels, self.outputs.beat))
        return own, masks


def _first(bits: Value) -> Value:
    """The number of the lowest bit that is set."""
    return one_hot_index(lowest_one(bits))

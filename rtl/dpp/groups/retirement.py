"""The end of a group: its test by the conditional unit, and its outputs.

Source: CTM Guide pp. 17-18, 29; docs/architecture.md.
"""

from typing import Any

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import output_layout, words_layout
from ctm.rtl.border.conditional import ConditionalClient
from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.beats import ONLY_BEAT, beat_bits, beat_members, is_last, lanes_of, pair_of
from ctm.rtl.dpp.groups.scheduling import row_bits
from ctm.rtl.dpp.groups.state import end_state_layout
from ctm.rtl.dpp.program import program_layout
from ctm.rtl.dpp.shapes import Shapes
from ctm.rtl.isa.limits import CHANNELS, OUTPUTS, WORD_BITS
from ctm.rtl.lib.encoding import lowest_one, one_hot_index
from ctm.rtl.lib.views import record

_TESTED = 8
"""Groups that may wait for their tests."""


class Retirement(wiring.Component):
    """Sends the outputs of groups that are at their end, and frees their rows.

    A group that faulted sends nothing. With tests the conditional unit is asked first; the groups' order stays the
    same. Each output register that was written takes a cycle for each beat, a group one more; with tests a cycle for
    each beat and two more at least.

    Members
    -------
    program : ``In(program_layout(shapes))``
    ready : ``Out(1)``
    group : ``In({valid, row, faulted})``
        A group at its end; only while `ready`.
    left : ``In({valid, row})``
        A group that has left its slot before is at its end; at any time, because there is a place for each row.
    test_row, test_state
        State of the group that is tested.
    row, state
        And of the group whose outputs are sent.
    conditional, conditional_written
        Conditional values of `test_row`; the values come a cycle later.
    test_beat : ``Out``
        Whose; only if there are several beats.
    target, words, written
        Output registers of `row`; the words come a cycle later.
    beat : ``Out``
        Whose words; only if there are several beats.
    release : ``Out({valid, row, faulted})``
        A cycle behind its last output.
    tester : ``Out(ConditionalClient(lanes))``
    output : ``Out(stream.Signature(output_layout(lanes)))``
    """

    def __init__(self, config: ArrayConfig, shapes: Shapes) -> None:
        self._config = config
        row, lanes = row_bits(config), config.lanes
        state = end_state_layout(lanes)
        event = data.StructLayout({"valid": 1, "row": row, "faulted": 1})
        super().__init__(
            {
                "program": In(program_layout(shapes)),
                "ready": Out(1),
                "group": In(event),
                "left": In(data.StructLayout({"valid": 1, "row": row})),
                "test_row": Out(row),
                "test_state": In(state),
                "row": Out(row),
                "state": In(state),
                "conditional": In(data.ArrayLayout(WORD_BITS, config.at_once)),
                "conditional_written": In(lanes),
                "target": Out(range(OUTPUTS)),
                "words": In(words_layout(config.at_once)),
                **beat_members(config, Out, "beat", "test_beat"),
                "written": In(data.ArrayLayout(data.ArrayLayout(CHANNELS, lanes), OUTPUTS)),
                "release": Out(event),
                "tester": Out(ConditionalClient(lanes)),
                "output": Out(stream.Signature(output_layout(config.at_once))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        entry = data.StructLayout({"row": row_bits(self._config), "faulted": 1, "tested": 1})
        m.submodules.queue = queue = SyncFIFO(width=entry.size, depth=_TESTED)
        self._test(m, queue, self._choose(m))
        self._send(m, queue, entry)
        return m

    def _choose(self, m: Module) -> stream.Interface:
        """The next group. Those that have left their slots cannot wait, so they come first."""
        m.submodules.left = left = SyncFIFO(width=row_bits(self._config), depth=2 * self._config.threads)
        chosen = stream.Signature(self.group.shape()).create()
        m.d.comb += [
            left.w_en.eq(self.left.valid),
            left.w_data.eq(self.left.row),
            left.r_en.eq(chosen.ready),
            self.ready.eq(chosen.ready & ~left.r_rdy),
            chosen.valid.eq(left.r_rdy | self.group.valid),
            chosen.payload.eq(self.group),
        ]
        with m.If(left.r_rdy):
            m.d.comb += [chosen.payload.row.eq(left.r_data), chosen.payload.faulted.eq(0)]
        return chosen

    def _test(self, m: Module, queue: SyncFIFO, group: stream.Interface) -> None:
        """Ask for the tests of the groups that need them."""
        taken, valid = Signal.like(self.group), Signal()
        fetched, values = self._fetch(m, valid)
        request, state = self.tester.request, self.test_state
        m.d.comb += [
            self.test_row.eq(taken.row),
            request.valid.eq(valid & fetched & ~taken.faulted & queue.w_rdy),
            request.payload.i.eq(state.i),
            request.payload.j.eq(state.j),
            request.payload.mask.eq(state.covered & state.valid_mask),
        ]
        with m.If(self.program.tests):
            m.d.comb += [
                queue.w_data.eq(Cat(taken.row, taken.faulted, ~taken.faulted)),
                queue.w_en.eq(valid & (taken.faulted | (fetched & request.ready))),
                group.ready.eq(~valid),
            ]
        with m.Else():
            m.d.comb += [
                queue.w_data.eq(Cat(group.payload.row, group.payload.faulted)),
                queue.w_en.eq(group.valid),
                group.ready.eq(queue.w_rdy),
            ]
        first = Mux(self.program.conditional_from_program, 0, self.program.conditional_value)
        for lane, value in enumerate(values):
            chosen = Mux(self.conditional_written[lane], value, first)
            m.d.comb += request.payload.values[lane].eq(chosen)
        with m.If(group.valid & ~valid & self.program.tests):
            m.d.sync += [valid.eq(1), taken.eq(group.payload)]
        with m.Elif(queue.w_en & queue.w_rdy):
            m.d.sync += valid.eq(0)

    def _fetch(self, m: Module, valid: Value) -> tuple[Value, data.View]:
        """The conditional values of all beats, one after the other while `valid`; and whether they are there."""
        beats = self._config.beats
        # Words of a beat come in the cycle behind that in which they are asked for.
        asked, fetched = Signal(range(beats + 1)), Signal(name="fetched")
        values = record(data.ArrayLayout(WORD_BITS, self._config.lanes), name="values")
        m.d.comb += fetched.eq(asked == beats)
        with m.If(~valid):
            m.d.sync += asked.eq(0)
        with m.Elif(~fetched):
            m.d.sync += asked.eq(asked + 1)
        if beats == 1:
            m.d.comb += values.eq(self.conditional)
            return fetched, values
        own = Value.cast(self.conditional)
        before = Signal(len(own) * (beats - 1), name="values_before", reset_less=True)
        m.d.comb += [self.test_beat.eq(Mux(fetched, beats - 1, asked)), values.eq(Cat(before, own))]
        with m.If(~fetched):
            m.d.sync += before.eq(Cat(before, own)[len(own) :])
        return fetched, values

    def _send(self, m: Module, queue: SyncFIFO, entry: data.StructLayout) -> None:
        """Send the outputs of the groups in the queue."""
        group, output = data.View(entry, queue.r_data), self.output
        left, started = Signal(OUTPUTS), Signal()
        passed = Signal(self._config.lanes)
        stores = self.state.covered & self.state.valid_mask & passed
        answered = self.tester.response.valid | ~group.tested
        begins, sends, ends = queue.r_rdy & ~started & answered, output.valid & output.ready, Signal()
        writes = Cat(Value.cast(self.written[number]).any() for number in range(OUTPUTS))
        # Words are read in the cycle before they are sent.
        upcoming, target = Signal(OUTPUTS), Signal(range(OUTPUTS))
        beat, sent = self._beats(m, sends)
        # What is known early is ready for both: whether an output is taken is known late in a cycle.
        others = Signal(OUTPUTS)
        m.d.comb += others.eq(left & (left - 1)[:OUTPUTS])
        stores, masks = self._masks(m, stores, self.written[target], beat)
        i, j = pair_of(self._config, self.state, beat)
        m.d.comb += [
            self.row.eq(group.row),
            upcoming.eq(Mux(started, Mux(sent, others, left), Mux(group.faulted, 0, writes))),
            self.target.eq(Mux(started, Mux(sent, _first(others), target), _first(writes))),
            target.eq(_first(left)),
            self.tester.response.ready.eq(queue.r_rdy & ~started & group.tested),
            output.valid.eq(started & left.any()),
            output.payload.target.eq(target),
            output.payload.i.eq(i),
            output.payload.j.eq(j),
            output.payload.words.eq(self.words),
            *(output.payload.mask[lane].eq(Mux(stores[lane], Value.cast(mask), 0)) for lane, mask in enumerate(masks)),
            ends.eq(started & Mux(sent, ~others.any(), ~left.any())),
            queue.r_en.eq(ends),
        ]
        # When the last output is taken is known late in a cycle.
        m.d.sync += [
            left.eq(upcoming),
            self.release.valid.eq(ends),
            self.release.row.eq(group.row),
            self.release.faulted.eq(group.faulted),
        ]
        with m.If(begins):
            m.d.sync += [started.eq(1), passed.eq(Mux(group.tested, self.tester.response.payload.passed, ~0))]
        with m.Elif(ends):
            m.d.sync += started.eq(0)

    def _beats(self, m: Module, sends: Value) -> tuple[Value, Value]:
        """The beat that is being sent, and whether that is an output register's last one."""
        config = self._config
        if config.beats == 1:
            return ONLY_BEAT, sends
        beat, upcoming = Signal(beat_bits(config)), Signal(beat_bits(config), name="upcoming_beat")
        m.d.comb += [upcoming.eq(beat + sends), self.beat.eq(upcoming)]
        m.d.sync += beat.eq(upcoming)
        return beat, sends & is_last(config, beat)

    def _masks(self, m: Module, stores: Value, written: data.View, beat: Value) -> tuple[Value, Any]:
        """Which of a beat's lanes store anything, and the channels that they have written."""
        config = self._config
        if config.beats == 1:
            return stores, written
        own = Signal(config.at_once, name="stores")
        masks = record(data.ArrayLayout(CHANNELS, config.at_once), name="masks")
        m.d.comb += [own.eq(lanes_of(config, stores, beat)), masks.eq(lanes_of(config, written, beat))]
        return own, masks


def _first(bits: Value) -> Value:
    """The number of the lowest bit that is set."""
    return one_hot_index(lowest_one(bits))

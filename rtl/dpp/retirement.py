"""The end of a group: its test by the conditional unit, and its outputs.

Source: CTM Guide pp. 17-18, 29; docs/architecture.md.
"""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from rtl.config import ArrayConfig
from rtl.dpp.border import PROGRAM, WORD_BITS, memory_members, words_layout
from rtl.dpp.group_state import group_state_layout
from rtl.dpp.scheduling import slot_bits
from rtl.isa.limits import CHANNELS, OUTPUTS
from rtl.lib.encoding import lowest_one, one_hot_index

_TESTED = 8
"""Groups that may wait for their tests."""


class Retirement(wiring.Component):
    """Sends the outputs of groups that are at their end, and frees their slots.

    A group that faulted sends nothing. With tests the conditional unit is asked first; the groups' order stays the
    same. Each output register that was written takes a cycle, a group one more; with tests three more at least.

    Members
    -------
    program : ``In(PROGRAM)``
    ready : ``Out(1)``
    group : ``In({valid, slot, faulted})``
        A group at its end; only while `ready`.
    test_slot, test_group
        State of the group that is tested.
    slot, state
        And of the group whose outputs are sent.
    conditional, conditional_written
        Conditional values of `test_slot`; the values come a cycle later.
    target, words, written
        Output registers of `slot`; the words come a cycle later.
    release : ``Out({valid, slot, faulted})``
    empty : ``Out(1)``
    test_request, test_response, output
        As the core's.
    """

    def __init__(self, config: ArrayConfig) -> None:
        self._config = config
        slot, lanes = slot_bits(config), config.lanes
        state = group_state_layout(lanes)
        event = data.StructLayout({"valid": 1, "slot": slot, "faulted": 1})
        clients = memory_members(config)
        super().__init__(
            {
                "program": In(PROGRAM),
                "ready": Out(1),
                "group": In(event),
                "test_slot": Out(slot),
                "test_group": In(state),
                "slot": Out(slot),
                "state": In(state),
                "conditional": In(data.ArrayLayout(WORD_BITS, lanes)),
                "conditional_written": In(lanes),
                "target": Out(range(OUTPUTS)),
                "words": In(words_layout(lanes)),
                "written": In(data.ArrayLayout(data.ArrayLayout(CHANNELS, lanes), OUTPUTS)),
                "release": Out(event),
                "empty": Out(1),
                **{name: clients[name] for name in ("test_request", "test_response", "output")},
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        entry = data.StructLayout({"slot": slot_bits(self._config), "faulted": 1, "tested": 1})
        m.submodules.queue = queue = SyncFIFO(width=entry.size, depth=_TESTED)
        testing = self._test(m, queue)
        sending = self._send(m, queue, entry)
        m.d.comb += self.empty.eq(~testing & ~sending & ~queue.r_rdy)
        return m

    def _test(self, m: Module, queue: SyncFIFO) -> Value:
        """Ask for the tests of the groups that need them; whether one is on its way."""
        taken, valid, fetched = Signal.like(self.group), Signal(), Signal()
        request = self.test_request
        m.d.comb += [
            self.test_slot.eq(taken.slot),
            request.valid.eq(valid & fetched & ~taken.faulted & queue.w_rdy),
            request.payload.i.eq(self.test_group.i),
            request.payload.j.eq(self.test_group.j),
            request.payload.mask.eq(self.test_group.covered & self.test_group.live),
        ]
        with m.If(self.program.tests):
            m.d.comb += [
                queue.w_data.eq(Cat(taken.slot, taken.faulted, ~taken.faulted)),
                queue.w_en.eq(valid & (taken.faulted | (fetched & request.ready))),
                self.ready.eq(~valid),
            ]
        with m.Else():
            m.d.comb += [
                queue.w_data.eq(Cat(self.group.slot, self.group.faulted)),
                queue.w_en.eq(self.group.valid),
                self.ready.eq(queue.w_rdy),
            ]
        first = Mux(self.program.conditional_from_program, 0, self.program.conditional_value)
        for lane, value in enumerate(self.conditional):
            chosen = Mux(self.conditional_written[lane], value, first)
            m.d.comb += request.payload.values[lane].eq(chosen)
        m.d.sync += fetched.eq(valid)
        with m.If(self.group.valid & self.program.tests):
            m.d.sync += [valid.eq(1), fetched.eq(0), taken.eq(self.group)]
        with m.Elif(queue.w_en & queue.w_rdy):
            m.d.sync += valid.eq(0)
        return valid

    def _send(self, m: Module, queue: SyncFIFO, entry: data.StructLayout) -> Value:
        """Send the outputs of the groups in the queue; whether one is at work."""
        group, output = data.View(entry, queue.r_data), self.output
        left, started = Signal(OUTPUTS), Signal()
        passed = Signal(self._config.lanes)
        stores = self.state.covered & self.state.live & passed
        answered = self.test_response.valid | ~group.tested
        begins, sends, ends = queue.r_rdy & ~started & answered, output.valid & output.ready, Signal()
        writes = Cat(Value.cast(self.written[number]).any() for number in range(OUTPUTS))
        # Words are read in the cycle before they are sent.
        upcoming, target = Signal(OUTPUTS), Signal(range(OUTPUTS))
        m.d.comb += [
            self.slot.eq(group.slot),
            upcoming.eq(Mux(started, Mux(sends, left & (left - 1)[:OUTPUTS], left), Mux(group.faulted, 0, writes))),
            self.target.eq(one_hot_index(lowest_one(upcoming))),
            target.eq(one_hot_index(lowest_one(left))),
            self.test_response.ready.eq(queue.r_rdy & ~started & group.tested),
            output.valid.eq(started & left.any()),
            output.payload.target.eq(target),
            output.payload.i.eq(self.state.i),
            output.payload.j.eq(self.state.j),
            output.payload.words.eq(self.words),
            *(
                output.payload.mask[lane].eq(Mux(stores[lane], Value.cast(self.written[target][lane]), 0))
                for lane in range(self._config.lanes)
            ),
            ends.eq(started & ~upcoming.any()),
            queue.r_en.eq(ends),
            self.release.valid.eq(ends),
            self.release.slot.eq(group.slot),
            self.release.faulted.eq(group.faulted),
        ]
        m.d.sync += left.eq(upcoming)
        with m.If(begins):
            m.d.sync += [started.eq(1), passed.eq(Mux(group.tested, self.test_response.payload.passed, ~0))]
        with m.Elif(ends):
            m.d.sync += started.eq(0)
        return started

"""Which group's instruction each port executes next.

A resident group has a slot. It is *clearing* until its temporaries are, then *ready*: it can be issued; *fetching*: its
next instruction has to be looked at; in a port (nothing is set); *waiting* for what its port had to load; *finished*.

A group whose last instruction is under way *leaves* its slot if it has nothing outstanding. The next group then takes
the slot, and the slot's other row, while the first one's results are still computed and its outputs are sent.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import reduce
from operator import and_, or_
from typing import Any

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.programs import CORE_CREDITS
from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.groups.scheduling import STALLS, IssuePort, issue_layout, row_bits, slot_bits
from ctm.rtl.dpp.groups.watchdog import Watchdog
from ctm.rtl.dpp.shapes import Shapes
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.lib.age_matrix import AgeMatrix
from ctm.rtl.lib.encoding import lowest_one, one_hot_index
from ctm.rtl.lib.ram import DistributedRam


@dataclass(frozen=True, kw_only=True, eq=False)
class _Slots:
    """A bit for each slot and fact; of `units` and `needs`, for each port and resource of the next instruction.

    `occupied`: it has a group. `fetching`, `ready`, `waiting`, `finished`: where the group is. `running`: it has begun
    and not ended. `waits`: its next instruction waits for the semaphore.
    """

    occupied: Signal
    fetching: Signal
    ready: Signal
    waiting: Signal
    running: Signal
    finished: Signal
    faulted: Signal
    waits: Signal
    units: list[Signal]
    needs: list[Signal]


@dataclass(frozen=True, kw_only=True)
class _News:
    """What becomes known of a slot's next instruction: the slot, one-hot or 0, and whether its group has expired."""

    slot: Value
    summary: Any
    expired: Value


class Scheduler(wiring.Component):
    """Gives each port the first group in order that is ready for it, one each cycle in which the port is `ready`.

    A group that comes goes to the end of the order; one whose instruction a port takes that defers goes behind those
    that are in no later round, see `AgeMatrix`.
    A port's `done` makes its group ready in the next cycle, in which it may be issued again; behind a jump it is two
    cycles later, because the instruction there has to be looked at first, for one group in each cycle. The first
    instruction is looked at in cycles in which no group needs one, so `begin` does as `done` if there was such a cycle.

    Members
    -------
    slots : ``In(range(threads + 1))``
        How many slots the program may use.
    admit : ``In(1)``
        A group takes `free_row`; only if one is `free`.
    free_row : ``Out``
    free : ``Out(range(AHEAD + 1))``
        Slots that are free, `CORE_CREDITS` at most.
    start : ``In(pc_bits)``
        The first instruction; constant from the cycle before a `begin` on.
    begin : ``In({valid, slot})``
        Its temporaries are cleared; it starts.
    ports : ``Out(IssuePort(config, shapes))`` for each port
    ending : ``In({valid, slot})``
        An instruction is under way behind which its group ends.
    leaves : ``Out(1)``
        That group leaves its slot; there will be no `done`.
    stop : ``In({valid, slot})``
        A group faults outside a port.
    fetch : ``Out({valid, slot, pc})``
        The instruction to be looked at, for no group if it is not valid; `fetched` is its summary, a cycle later.
    fetched : ``In(shapes.summary)``
    can_fetch : ``In(1)``
        An instruction can be looked at.
    ready : ``In(ports)``
        Ports that can take an instruction.
    room : ``In(resources)``
        Resources that an instruction can have.
    wake : ``In(1)``
        Nothing is being loaded.
    blocked, full : ``In(threads)``
        Slots whose semaphore is taken; that have as many lookups outstanding as they may.
    quiet : ``In(threads)``
        Slots with nothing outstanding.
    watchdog : ``In(32)``
    expired : ``Out(threads)``
        Slots whose group has executed as many instructions as it may; the faulting port gets its next one.
    can_retire : ``In(1)``
    retire : ``Out({valid, row, faulted})``
        A group at its end, with nothing outstanding.
    release : ``In({valid, row})``
        The row is free again, and the slot if its group has not left it.
    second : ``Out(threads)``
        Slots whose group has the second of the slot's rows.
    rows : ``Out(2 * threads)``
        Rows that are not free.
    stalls : ``Out(5)``
        The cause in `STALLS` why the last cycle issued nothing at the counted port; 0 if it did, or there is no group.
    """

    def __init__(self, config: ArrayConfig, shapes: Shapes) -> None:
        self._config, self._shapes, self._threads, self._summary = config, shapes, config.threads, shapes.summary
        self._takes_beats = config.beats > 1
        threads, ports = config.threads, len(shapes.ports)
        self._slots = _Slots(
            **{field.name: Signal(threads, name=field.name) for field in fields(_Slots) if field.type is Signal},
            units=[Signal(threads, name=f"unit_{port.name.lower()}") for port in shapes.ports],
            needs=[Signal(threads, name=f"needs_{resource.name}") for resource in shapes.resources],
        )
        slot, row = slot_bits(config), row_bits(config)
        at_slot = {"valid": 1, "slot": slot}
        super().__init__(
            {
                "slots": In(range(threads + 1)),
                "admit": In(1),
                "free_row": Out(row),
                "free": Out(range(CORE_CREDITS + 1)),
                "start": In(shapes.pc_bits),
                "begin": In(data.StructLayout(at_slot)),
                "ports": Out(IssuePort(config, shapes)).array(ports),
                "ending": In(data.StructLayout(at_slot)),
                "leaves": Out(1),
                "stop": In(data.StructLayout(at_slot)),
                "fetch": Out(issue_layout(config, shapes)),
                "fetched": In(shapes.summary),
                "can_fetch": In(1),
                "ready": In(ports),
                "room": In(len(shapes.resources)),
                "can_retire": In(1),
                "wake": In(1),
                "blocked": In(threads),
                "full": In(threads),
                "quiet": In(threads),
                "watchdog": In(WORD_BITS),
                "expired": Out(threads),
                "retire": Out(data.StructLayout({"valid": 1, "row": row, "faulted": 1})),
                "release": In(data.StructLayout({"valid": 1, "row": row})),
                "second": Out(threads),
                "rows": Out(2 * threads),
                "stalls": Out(len(STALLS)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        slots = self._slots
        m.submodules.pcs = pcs = DistributedRam(self._shapes.pc_bits, self._threads)
        admitted = self._admit(m)
        blocked = slots.ready & ~slots.faulted & self._blocked()
        open_ = slots.ready & ~slots.faulted & ~blocked
        ages = self._pick(m, admitted, open_)
        retire = len(self.ports) + 1
        fetched = Signal.like(self.fetch)
        for number, issue in enumerate((*self._issues(), self.fetch)):
            self._connect(m, ages, number, issue, pcs)
        with m.If(~self.fetch.valid):
            m.d.comb += self.fetch.pc.eq(self.start)
        m.d.sync += fetched.eq(self.fetch)
        m.d.comb += [
            self.retire.valid.eq(ages.found[retire]),
            self.retire.row.eq(Cat(ages.oldest[retire], self.second.bit_select(ages.oldest[retire], 1))),
            self.retire.faulted.eq(slots.faulted.bit_select(ages.oldest[retire], 1)),
        ]
        pcs.write(m, self.begin.slot, self.start, self.begin.valid)
        for done in self._dones():
            pcs.write(m, done.slot, done.pc, done.valid & ~done.again)
        self._step(m, admitted, fetched)
        self._count_stalls(m, ages, blocked, open_)
        return m

    def _issues(self) -> list[data.View]:
        return [port.issue for port in self.ports]

    def _dones(self) -> list[data.View]:
        return [port.done for port in self.ports]

    def _mask(self, m: Module, valid: Value, slot: Value, name: str) -> Signal:
        """One slot's bit, or none."""
        mask = Signal(self._threads, name=name)
        m.d.comb += mask.eq(Mux(valid, 1 << slot, 0))
        return mask

    def _admit(self, m: Module) -> Value:
        """Offer a slot and its other row; the slot that a group takes."""
        usable = ((1 << self.slots) - 1)[: self._threads]
        other_row = (self.rows[: self._threads] & self.second) | (self.rows[self._threads :] & ~self.second)
        free, first, free_slot = Signal(self._threads), Signal(self._threads), Signal.like(self.begin.slot)
        others, count = free & ~first, [free.any()]
        for _ in range(1, CORE_CREDITS):
            count.append(others.any())
            others &= ~lowest_one(others)
        m.d.comb += [
            free.eq(~self._slots.occupied & usable & ~other_row),
            first.eq(lowest_one(free)),
            free_slot.eq(one_hot_index(first)),
            self.free.eq(sum(count)),
            self.free_row.eq(Cat(free_slot, ~self.second.bit_select(free_slot, 1))),
        ]
        return self._mask(m, self.admit, free_slot, "admitted")

    def _blocked(self) -> Value:
        """Slots whose next instruction has to wait for what they have asked of memory."""
        looking_up = (unit for unit, port in zip(self._slots.units, self._shapes.ports, strict=True) if port.looks_up)
        return Value.cast((self._slots.waits & self.blocked) | (reduce(or_, looking_up, Const(0)) & self.full))

    def _pick(self, m: Module, admitted: Value, open_: Value) -> AgeMatrix:
        """Candidates for each port, for looking at and for retiring; the oldest of each."""
        shapes, slots, every = self._shapes, self._slots, self._threads
        m.submodules.ages = ages = AgeMatrix(every, len(shapes.ports) + 2)
        fetches, retires = ages.candidates[len(shapes.ports) :]

        def where(allowed: Value) -> Value:
            return allowed.replicate(every)

        has_all = reduce(
            and_, (~needs | where(room) for needs, room in zip(slots.needs, self.room, strict=True)), open_
        )  # fmt: skip
        deferred = (
            self._mask(m, issue.valid, issue.slot, "defers")
            for port, issue in zip(shapes.ports, self._issues(), strict=True)
            if port.defers
        )
        m.d.comb += [
            ages.renew.eq(admitted),
            ages.present.eq(slots.occupied),
            ages.defer.eq(reduce(or_, deferred, Const(0))),
            *(
                ages.candidates[port].eq(has_all & unit & where(self.ready[port]))
                for port, unit in enumerate(slots.units)
            ),
            fetches.eq(slots.fetching & ~slots.faulted & where(self.can_fetch)),
            retires.eq(slots.finished & self.quiet & where(self.can_retire)),
        ]
        return ages

    def _connect(self, m: Module, ages: AgeMatrix, number: int, issue: data.View, pcs: DistributedRam) -> None:
        m.d.comb += [
            issue.valid.eq(ages.found[number]),
            issue.slot.eq(ages.oldest[number]),
            issue.pc.eq(pcs.read(m, ages.oldest[number])),
        ]

    def _count_stalls(self, m: Module, ages: AgeMatrix, blocked: Value, open_: Value) -> None:
        slots = self._slots
        lacks = [
            Mux(ready, 0, unit)
            for port, (ready, unit) in enumerate(zip(self.ready, slots.units, strict=True))
            if not self._takes_beats or port != self._shapes.counted
        ]
        for resource, needs, room in zip(self._shapes.resources, slots.needs, self.room, strict=True):
            if resource.is_request:
                lacks.append(Mux(room, 0, needs))
        requests = open_ & reduce(or_, lacks)
        loading = slots.waiting | Mux(self.can_fetch, 0, slots.fetching)
        causes = [blocked, loading, requests, slots.running, self.rows]
        found = lowest_one(Cat(cause.any() for cause in causes))
        works = ages.found[self._shapes.counted]
        if self._takes_beats:
            works |= ~self.ready[self._shapes.counted]
        m.d.sync += self.stalls.eq(Mux(works, 0, found))

    def _step(self, m: Module, admitted: Value, fetched: data.View) -> None:
        """Each slot's next state."""
        slots = self._slots
        left = self._occupy(m, admitted)
        issued = Signal(self._threads)
        m.d.comb += issued.eq(reduce(or_, (self._mask(m, each.valid, each.slot, "issues") for each in self._issues())))
        events = {"begun": self.begin, "taken": self.fetch, "looked_at": fetched, "stopped": self.stop}
        begun, taken, looked_at, stopped = (
            self._mask(m, event.valid, event.slot, name) for name, event in events.items()
        )
        retired = self._mask(m, self.retire.valid, self.retire.row[:-1], "retired")
        again = self._done(m, "again", lambda done: done.again)
        continues = self._done(m, "continues", lambda done: ~done.again & ~done.ends & ~done.faults & ~done.jumps)
        jumps = self._done(m, "jumps", lambda done: ~done.again & ~done.ends & ~done.faults & done.jumps)
        ends = self._done(m, "ends", lambda done: ~done.again & (done.ends | done.faults))
        faults = self._done(m, "faults", lambda done: ~done.again & done.faults)

        given_up, woken = Signal(self._threads), Signal(self._threads)
        m.d.comb += [
            given_up.eq((slots.ready | slots.waiting | slots.fetching) & slots.faulted),
            woken.eq(Mux(self.wake, slots.waiting, 0)),
        ]
        first_known, first = self._first(m, fetched)
        m.d.sync += [
            slots.faulted.eq((slots.faulted | faults | stopped) & ~admitted),
            slots.fetching.eq(slots.fetching & ~taken & ~given_up | Mux(first_known, 0, begun) | jumps),
            slots.waiting.eq(slots.waiting & ~woken & ~given_up | again),
            slots.ready.eq(
                (slots.ready & ~issued | woken) & ~given_up | Mux(first_known, begun, 0) | continues | looked_at
            ),
            slots.running.eq((slots.running & ~given_up & ~ends & ~left) | begun),
            slots.finished.eq((slots.finished | given_up) & ~retired | ends),
        ]
        self._learn(m, begun, fetched, first)

    def _done(self, m: Module, name: str, applies: Callable[[data.View], Value]) -> Signal:
        """Slots of which a port's `done` says something."""
        found = Signal(self._threads, name=f"done_{name}")
        m.d.comb += found.eq(
            reduce(or_, (self._mask(m, done.valid & applies(done), done.slot, name) for done in self._dones()))
        )
        return found

    def _first(self, m: Module, fetched: data.View) -> tuple[Value, Value]:
        """Whether the first instruction's summary is known, and the summary: `fetched` where that is no group's."""
        known, held, could_fetch = Signal(), Signal(), Signal()
        summary, held_summary = Signal(self._summary, name="first"), Signal(self._summary, name="held_first")
        m.d.comb += [known.eq(held), summary.eq(held_summary)]
        with m.If(~fetched.valid):
            m.d.comb += [known.eq(could_fetch), summary.eq(self.fetched)]
        m.d.sync += [could_fetch.eq(self.can_fetch), held.eq(known & self.can_fetch), held_summary.eq(summary)]
        return known, summary

    def _occupy(self, m: Module, admitted: Value) -> Value:
        """Which slots and rows are free; the slot whose group leaves it."""
        occupied, ending, row = self._slots.occupied, self.ending, self.release.row
        is_alone = self.quiet & ~self._slots.faulted
        m.d.comb += self.leaves.eq(ending.valid & is_alone.bit_select(ending.slot, 1))
        left = self._mask(m, self.leaves, ending.slot, "left")
        # The group of a row that is released still has its slot if that is the row of the slot's last group.
        releases = self.release.valid & (self.second.bit_select(row[:-1], 1) == row[-1])
        released = self._mask(m, releases, row[:-1], "released")
        released_row = Mux(self.release.valid, 1 << row, 0)
        m.d.sync += [
            occupied.eq((occupied & ~released & ~left) | admitted),
            self.second.eq(self.second ^ admitted),
            self.rows.eq((self.rows & ~released_row) | Cat(admitted & self.second, admitted & ~self.second)),
        ]
        return left

    def _learn(self, m: Module, begun: Value, fetched: data.View, first: Value) -> None:
        """What is known of each slot's next instruction, and how many it may still execute."""
        dones = self._dones()
        m.submodules.watchdog = watchdog = Watchdog(self._config, len(dones))
        m.d.comb += [watchdog.most.eq(self.watchdog), watchdog.begin.eq(self.begin)]
        news = [_News(slot=begun, summary=first, expired=Const(0))]
        for done, executed, expires in zip(dones, watchdog.executed, watchdog.expires, strict=True):
            m.d.comb += [executed.valid.eq(done.valid & ~done.again), executed.slot.eq(done.slot)]
            counted = self._mask(m, executed.valid, executed.slot, "counted")
            news.append(_News(slot=counted, summary=done.following, expired=expires))
        expiring = reduce(or_, (Mux(each.expired, each.slot, 0) for each in news[1:]))
        m.d.sync += self.expired.eq((self.expired & ~begun) | expiring)
        expired = Signal(name="has_expired")
        m.d.comb += expired.eq(self.expired.bit_select(fetched.slot, 1))
        looked_at = self._mask(m, fetched.valid, fetched.slot, "learns")
        self._keep(m, [*news, _News(slot=looked_at, summary=self.fetched, expired=expired)])

    def _keep(self, m: Module, news: list[_News]) -> None:
        """Keep what is new; each slot has one news at most. A group that has expired is the faulting port's."""
        slots, shapes = self._slots, self._shapes
        learned = Signal(self._threads)
        m.d.comb += learned.eq(reduce(or_, (each.slot for each in news)))

        def learn(known: Signal, facts: list[Value]) -> None:
            new = reduce(or_, (Mux(fact, each.slot, 0) for fact, each in zip(facts, news, strict=True)))
            m.d.sync += known.eq((known & ~learned) | new)

        for port, unit in enumerate(slots.units):
            faults = int(port == shapes.faulting)
            learn(unit, [Mux(each.expired, faults, each.summary.unit == port) for each in news])
        learn(slots.waits, [each.summary.waits & ~each.expired for each in news])
        for resource, needs in zip(shapes.resources, slots.needs, strict=True):
            learn(needs, [each.summary[resource.name] & ~each.expired for each in news])

"""Which group's instruction each port executes next.

A resident group has a slot. It is *clearing* until its temporaries are, then *ready*: it can be issued; *fetching*: its
next instruction has to be looked at; in a port (nothing is set); *waiting* for what its port had to load; *finished*.

A group whose last instruction is under way *leaves* its slot if it has nothing outstanding. The next group then takes
the slot, and the slot's other row, while the first one's results are still computed and its outputs are sent.
"""

from collections.abc import Iterable
from functools import reduce
from operator import or_

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.groups.scheduling import STALLS, done_layout, issue_layout, row_bits, slot_bits
from ctm.rtl.dpp.shapes import Shapes
from ctm.rtl.lib.ages import Ages
from ctm.rtl.lib.encoding import lowest_one, one_hot_index
from ctm.rtl.lib.table import Table

_COUNT_BITS = 32


class Scheduler(wiring.Component):
    """Gives each port the first group in order that is ready for it, one each cycle.

    A group that comes goes to the end of the order, and so does one whose instruction a port takes that defers.
    A port's `done` makes its group ready in the next cycle, in which it may be issued again; behind a jump it is two
    cycles later, because the instruction there has to be looked at first, for one group in each cycle. The first
    instruction is looked at in cycles in which no group needs one, so `begin` does as `done` if there was such a cycle.

    Members
    -------
    slots : ``In(range(threads + 1))``
        How many slots the program may use.
    admit : ``In(1)``
        A group takes `free_row`; only with `has_free`.
    free_row, has_free : ``Out``
    start : ``In(pc_bits)``
        The first instruction; constant from the cycle before a `begin` on.
    begin : ``In({valid, slot})``
        Its temporaries are cleared; it starts.
    issue : ``Out(issue_layout(config, shapes))`` for each port
    done : ``In(done_layout(config, shapes))`` for each port
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
        self._shapes, self._threads = shapes, config.threads
        self._summary = shapes.summary
        threads, ports = config.threads, len(shapes.ports)
        slot, row = slot_bits(config), row_bits(config)
        at_slot = {"valid": 1, "slot": slot}
        super().__init__(
            {
                "slots": In(range(threads + 1)),
                "admit": In(1),
                "free_row": Out(row),
                "has_free": Out(1),
                "start": In(shapes.pc_bits),
                "begin": In(data.StructLayout(at_slot)),
                "issue": Out(issue_layout(config, shapes)).array(ports),
                "done": In(done_layout(config, shapes)).array(ports),
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
                "watchdog": In(_COUNT_BITS),
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
        threads = self._threads
        self._occupied, self._fetching, self._ready, self._waiting, self._running, self._finished, self._faulted = (
            Signal(threads, name=name)
            for name in ("occupied", "fetching", "ready", "waiting", "running", "finished", "faulted")
        )
        self._units = [Signal(threads, name=f"unit_{port.name.lower()}") for port in self._shapes.ports]
        self._waits = Signal(threads, name="waits")
        self._needs = [Signal(threads, name=f"needs_{resource.name}") for resource in self._shapes.resources]
        m.submodules.pcs = pcs = Table(self._shapes.pc_bits, threads)

        usable = ((1 << self.slots) - 1)[:threads]
        other_row = (self.rows[:threads] & self.second) | (self.rows[threads:] & ~self.second)
        free = ~self._occupied & usable & ~other_row
        free_slot = one_hot_index(lowest_one(free))
        m.d.comb += [
            self.has_free.eq(free.any()),
            self.free_row.eq(Cat(free_slot, ~self.second.bit_select(free_slot, 1))),
        ]
        admitted = self._mask(self.admit, free_slot)
        ages = self._pick(m, admitted)
        fetch, retire = len(self.issue), len(self.issue) + 1
        for port, issue in enumerate(self.issue):
            self._connect(m, ages, port, issue, pcs)
        fetched = Signal.like(self.fetch)
        self._connect(m, ages, fetch, self.fetch, pcs)
        with m.If(~self.fetch.valid):
            m.d.comb += self.fetch.pc.eq(self.start)
        m.d.sync += fetched.eq(self.fetch)
        m.d.comb += [
            self.retire.valid.eq(ages.found[retire]),
            self.retire.row.eq(Cat(ages.oldest[retire], self.second.bit_select(ages.oldest[retire], 1))),
            self.retire.faulted.eq(self._faulted.bit_select(ages.oldest[retire], 1)),
        ]
        pcs.write(m, self.begin.slot, self.start, self.begin.valid)
        for done in self.done:
            pcs.write(m, done.slot, done.pc, done.valid & ~done.again)
        self._step(m, admitted, fetched)
        self._count_stalls(m, ages)
        return m

    def _first(self, m: Module, fetched: data.View) -> tuple[Value, Value]:
        """Whether the first instruction's summary is known, and the summary: `fetched` where that is no group's."""
        known, held, could_fetch = Signal(), Signal(), Signal()
        summary, held_summary = Signal(self._summary, name="first"), Signal(self._summary, name="held_first")
        m.d.comb += [known.eq(held), summary.eq(held_summary)]
        with m.If(~fetched.valid):
            m.d.comb += [known.eq(could_fetch), summary.eq(self.fetched)]
        m.d.sync += [could_fetch.eq(self.can_fetch), held.eq(known & self.can_fetch), held_summary.eq(summary)]
        return known, summary

    def _mask(self, valid: Value, slot: Value) -> Value:
        """One slot's bit, or none."""
        return Mux(valid, 1 << slot, 0)[: self._threads]

    def _pick(self, m: Module, admitted: Value) -> Ages:
        """Candidates for each port, for looking at and for retiring; the oldest of each."""
        shapes, every = self._shapes, self._threads
        m.submodules.ages = ages = Ages(every, len(shapes.ports) + 2)
        fetches, retires = ages.candidates[len(shapes.ports) :]
        ready = self._ready & ~self._faulted
        full = reduce(or_, (self._units[number] for number, port in enumerate(shapes.ports) if port.looks_up), Const(0))
        self._blocked = ready & ((self._waits & self.blocked) | (full & self.full))
        self._open = ready & ~self._blocked

        def where(allowed: Value) -> Value:
            return allowed.replicate(every)

        has_all = self._open
        for needs, room in zip(self._needs, self.room, strict=True):
            has_all &= ~needs | where(room)
        deferred = (
            self._mask(issue.valid, issue.slot)
            for port, issue in zip(shapes.ports, self.issue, strict=True)
            if port.defers
        )
        m.d.comb += [
            ages.renew.eq(admitted),
            ages.defer.eq(reduce(or_, deferred, Const(0))),
            *(
                ages.candidates[port].eq(has_all & unit & where(self.ready[port]))
                for port, unit in enumerate(self._units)
            ),
            fetches.eq(self._fetching & ~self._faulted & where(self.can_fetch)),
            retires.eq(self._finished & self.quiet & where(self.can_retire)),
        ]
        return ages

    def _connect(self, m: Module, ages: Ages, number: int, issue: data.View, pcs: Table) -> None:
        m.d.comb += [
            issue.valid.eq(ages.found[number]),
            issue.slot.eq(ages.oldest[number]),
            issue.pc.eq(pcs.read(m, ages.oldest[number])),
        ]

    def _count_stalls(self, m: Module, ages: Ages) -> None:
        lacks = [Mux(ready, 0, unit) for ready, unit in zip(self.ready, self._units, strict=True)]
        for resource, needs, room in zip(self._shapes.resources, self._needs, self.room, strict=True):
            if resource.is_request:
                lacks.append(Mux(room, 0, needs))
        requests = self._open & reduce(or_, lacks)
        loading = self._waiting | Mux(self.can_fetch, 0, self._fetching)
        causes = [self._blocked, loading, requests, self._running, self.rows]
        found = lowest_one(Cat(cause.any() for cause in causes))
        m.d.sync += self.stalls.eq(Mux(ages.found[self._shapes.counted], 0, found))

    def _step(self, m: Module, admitted: Value, fetched: data.View) -> None:
        """Each slot's next state."""
        left = self._occupy(m, admitted)
        issued = Signal(self._threads)
        m.d.comb += issued.eq(reduce(or_, (self._mask(issue.valid, issue.slot) for issue in self.issue)))
        begun, taken, looked_at, stopped = (
            self._mask(event.valid, event.slot) for event in (self.begin, self.fetch, fetched, self.stop)
        )
        retired = self._mask(self.retire.valid, self.retire.row[:-1])
        again, continues, jumps, ends, faults = (Signal(self._threads, name=f"done_{index}") for index in range(5))
        kinds: list[list[Value]] = [[], [], [], [], []]
        for done in self.done:
            stops = done.ends | done.faults
            goes_on = done.valid & ~done.again & ~stops
            for bits, condition in zip(
                kinds,
                (done.valid & done.again, goes_on & ~done.jumps, goes_on & done.jumps, done.valid & stops & ~done.again,
                 done.valid & done.faults & ~done.again),
                strict=True,
            ):  # fmt: skip
                bits.append(self._mask(condition, done.slot))
        for signal, bits in zip((again, continues, jumps, ends, faults), kinds, strict=True):
            m.d.comb += signal.eq(reduce(or_, bits))

        idle = self._ready | self._waiting | self._fetching
        given_up = idle & self._faulted
        woken = Mux(self.wake, self._waiting, 0)
        first_known, first = self._first(m, fetched)
        m.d.sync += [
            self._faulted.eq((self._faulted | faults | stopped) & ~admitted),
            self._fetching.eq(self._fetching & ~taken & ~given_up | Mux(first_known, 0, begun) | jumps),
            self._waiting.eq(self._waiting & ~woken & ~given_up | again),
            self._ready.eq(
                (self._ready & ~issued | woken) & ~given_up | Mux(first_known, begun, 0) | continues | looked_at
            ),
            self._running.eq((self._running & ~given_up & ~ends & ~left) | begun),
            self._finished.eq((self._finished | given_up) & ~retired | ends),
        ]
        self._learn(m, begun, fetched, first)

    def _occupy(self, m: Module, admitted: Value) -> Value:
        """Which slots and rows are free; the slot whose group leaves it."""
        ending, row = self.ending, self.release.row
        is_alone = self.quiet & ~self._faulted
        m.d.comb += self.leaves.eq(ending.valid & is_alone.bit_select(ending.slot, 1))
        left = self._mask(self.leaves, ending.slot)
        # The group of a row that is released still has its slot if that is the row of the slot's last group.
        released = self._mask(self.release.valid & (self.second.bit_select(row[:-1], 1) == row[-1]), row[:-1])
        released_row = Mux(self.release.valid, 1 << row, 0)
        m.d.sync += [
            self._occupied.eq((self._occupied & ~released & ~left) | admitted),
            self.second.eq(self.second ^ admitted),
            self.rows.eq((self.rows & ~released_row) | Cat(admitted & self.second, admitted & ~self.second)),
        ]
        return left

    def _learn(self, m: Module, begun: Value, fetched: data.View, first: Value) -> None:
        """What is known of each slot's next instruction, and how many it may still execute."""
        m.submodules.left = left = Table(_COUNT_BITS, self._threads)
        left.write(m, self.begin.slot, self.watchdog, self.begin.valid)
        expiring: list[Value] = []
        news: list[tuple[Value, Value, Value]] = [(begun, first, Const(0))]
        for done in self.done:
            remaining = left.read(m, done.slot)
            counts = done.valid & ~done.again
            left.write(m, done.slot, (remaining - 1)[:_COUNT_BITS], counts)
            expires = (self.watchdog != 0) & (remaining == 1)
            expiring.append(self._mask(counts & expires, done.slot))
            news.append((self._mask(counts, done.slot), done.following, expires))
        expired = self.expired.bit_select(fetched.slot, 1)
        news.append((self._mask(fetched.valid, fetched.slot), self.fetched, expired))
        m.d.sync += self.expired.eq((self.expired & ~begun) | reduce(or_, expiring))
        learned = Signal(self._threads)
        m.d.comb += learned.eq(reduce(or_, (slot for slot, _, _ in news)))

        def learn(known: Value, facts: Iterable[Value]) -> None:
            # Each slot has one news at most.
            new = reduce(or_, (Mux(fact, slot, 0) for fact, (slot, _, _) in zip(facts, news, strict=True)))
            m.d.sync += known.eq((known & ~learned) | new)

        for port, known in enumerate(self._units):
            takes_faults = int(port == self._shapes.faulting)
            learn(known, (Mux(expired, takes_faults, summary.unit == port) for _, summary, expired in news))
        learn(self._waits, (summary.waits & ~expired for _, summary, expired in news))
        for resource, known in zip(self._shapes.resources, self._needs, strict=True):
            learn(known, (summary[resource.name] & ~expired for _, summary, expired in news))

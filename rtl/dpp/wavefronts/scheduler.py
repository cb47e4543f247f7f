"""Scheduler: chooses the wavefront whose instruction each port executes next, oldest first.

A resident wavefront has a wave slot. It is *clearing* until its temporaries are cleared; *ready*: it can be issued;
*fetching*: the summary of its next instruction has to be read; in a port; *waiting* for what its port had to load; or
*finished*. While it is clearing or in a port none of the other states has its bit set. From its first instruction to
its end it is also *running*.

A wavefront whose last instruction is issued *vacates* its wave slot if it has nothing outstanding. The next wavefront
then takes the wave slot and its other context, while the first one's results are still computed and sent.
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
from ctm.rtl.dpp.shapes import Shapes
from ctm.rtl.dpp.wavefronts.scheduling import (
    STALLS,
    Admission,
    Availability,
    Contexts,
    EndedWavefronts,
    IssuePort,
    Outstanding,
    SummaryRead,
    Vacating,
    context_bits,
    wave_bits,
)
from ctm.rtl.dpp.wavefronts.watchdog import Watchdog
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.lib.age_matrix import AgeMatrix
from ctm.rtl.lib.encoding import lowest_one, one_hot_index
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.lib.ram import DistributedRam


@dataclass(frozen=True, kw_only=True, eq=False)
class WaveSlots:
    """State bits of all wave slots. `units` and `needs` have them for each port and resource of the next instruction.

    `occupied`: it has a wavefront. `fetching`, `ready`, `waiting`, `finished`: the wavefront's state. `running`: it has
    begun and not ended, in whichever of these states. `faulted`: it stops before its next instruction, or has stopped.
    `waits`: its next instruction waits for the semaphore.
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
    """A new summary of the next instruction: of which wave slot, one-hot or 0, and whether its wavefront expired."""

    wave: Value
    summary: Any
    expired: Value


class Scheduler(wiring.Component):
    """Issues to each port the oldest wavefront that is ready for it, one in each cycle in which the port is `ready`.

    A new wavefront is the youngest. One that issues to a port that defers comes to its next round, see `AgeMatrix`.
    After a port's `done` its wavefront may be issued in the next cycle. After a jump it takes two more cycles, because
    the target's summary has to be read, for one wavefront in each cycle. The summary of the first instruction is read
    in cycles in which no wavefront needs one: then `begin` is as quick as `done`.

    Members
    -------
    admission : ``In(Admission(config))``
    start : ``In(pc_bits)``
        The first instruction's PC; constant from the cycle before a `begin` until no wavefront is resident.
    begin : ``In({valid, wave})``
        Its temporaries are cleared; it starts.
    ports : ``Out(IssuePort(config, shapes))`` for each port
    vacating : ``In(Vacating(config))``
    stop : ``In({valid, wave})``
        A wavefront faults outside a port.
    summaries : ``Out(SummaryRead(config, shapes))``
    available : ``Out(Availability(shapes))``
    outstanding : ``Out(Outstanding(threads))``
    watchdog : ``In(32)``
        Instructions that a wavefront may execute; 0 for any number.
    expired : ``Out(threads)``
        Wave slots whose watchdog expired; the faulting port gets the next instruction.
    ended : ``Out(EndedWavefronts(context_bits(config)))``
    release : ``In({valid, context})``
        The context is free again, and the wave slot if its wavefront did not vacate it.
    contexts : ``Out(Contexts(threads))``
    stalls : ``Out(5)``
        The cause why the last cycle issued nothing at the counted port, one-hot as in `STALLS`. 0 if it issued, or
        executed a further beat, or there is no wavefront.

    `wave_slots` are the state bits of all wave slots, for an observer.
    """

    def __init__(self, config: ArrayConfig, shapes: Shapes) -> None:
        self._config, self._shapes, self._threads, self._summary = config, shapes, config.threads, shapes.summary
        self._takes_beats = config.beats > 1
        threads, ports = config.threads, len(shapes.ports)
        self.wave_slots = WaveSlots(
            **{field.name: Signal(threads, name=field.name) for field in fields(WaveSlots) if field.type is Signal},
            units=[Signal(threads, name=f"unit_{port.name.lower()}") for port in shapes.ports],
            needs=[Signal(threads, name=f"needs_{resource.name}") for resource in shapes.resources],
        )
        at_wave = data.StructLayout({"valid": 1, "wave": wave_bits(config)})
        super().__init__(
            {
                "admission": In(Admission(config)),
                "start": In(shapes.pc_bits),
                "begin": In(at_wave),
                "ports": Out(IssuePort(config, shapes)).array(ports),
                "vacating": In(Vacating(config)),
                "stop": In(at_wave),
                "summaries": Out(SummaryRead(config, shapes)),
                "available": Out(Availability(shapes)),
                "outstanding": Out(Outstanding(threads)),
                "watchdog": In(WORD_BITS),
                "expired": Out(threads),
                "ended": Out(EndedWavefronts(context_bits(config))),
                "release": In(data.StructLayout({"valid": 1, "context": context_bits(config)})),
                "contexts": Out(Contexts(threads)),
                "stalls": Out(len(STALLS)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        waves = self.wave_slots
        m.submodules.pcs = pcs = DistributedRam(self._shapes.pc_bits, self._threads)
        admitted = self._admit(m)
        blocked = waves.ready & ~waves.faulted & self.blocked_wave_slots()
        open_ = waves.ready & ~waves.faulted & ~blocked
        ages = self._pick(m, admitted, open_)
        retire, fetch, ended = len(self.ports) + 1, self.summaries.fetch, self.ended.wavefront
        fetched = Signal.like(fetch)
        for number, issue in enumerate((*self._issues(), fetch)):
            self._connect(m, ages, number, issue, pcs)
        with m.If(~fetch.valid):
            m.d.comb += fetch.pc.eq(self.start)
        m.d.sync += fetched.eq(fetch)
        m.d.comb += [
            ended.valid.eq(ages.found[retire]),
            ended.context.eq(Cat(ages.oldest[retire], self.contexts.second.bit_select(ages.oldest[retire], 1))),
            ended.faulted.eq(waves.faulted.bit_select(ages.oldest[retire], 1)),
        ]
        pcs.write(m, self.begin.wave, self.start, self.begin.valid)
        for done in self._dones():
            pcs.write(m, done.wave, done.pc, done.valid & ~done.again)
        self._step(m, admitted, fetched)
        self._count_stalls(m, ages, blocked, open_)
        return m

    def _issues(self) -> list[data.View]:
        return [port.issue for port in self.ports]

    def _dones(self) -> list[data.View]:
        return [port.done for port in self.ports]

    def _mask(self, m: Module, valid: Value, wave: Value, name: str) -> Signal:
        """One wave slot's bit, or none."""
        mask = Signal(self._threads, name=name)
        m.d.comb += mask.eq(Mux(valid, 1 << wave, 0))
        return mask

    def _admit(self, m: Module) -> Value:
        """Offer a wave slot and its other context. Returns the wave slot that a wavefront takes."""
        admission, second, taken = self.admission, self.contexts.second, self.contexts.taken
        other_context = (taken[: self._threads] & second) | (taken[self._threads :] & ~second)
        free, first, free_wave = Signal(self._threads), Signal(self._threads), Signal.like(self.begin.wave)
        others, count = free & ~first, [free.any()]
        for _ in range(1, CORE_CREDITS):
            count.append(others.any())
            others &= ~lowest_one(others)
        m.d.comb += [
            free.eq(~self.wave_slots.occupied & delay(m, admission.usable, name="usable_before") & ~other_context),
            first.eq(lowest_one(free)),
            free_wave.eq(one_hot_index(first)),
            admission.free.eq(sum(count)),
            admission.context.eq(Cat(free_wave, ~second.bit_select(free_wave, 1))),
        ]
        return self._mask(m, admission.admit, free_wave, "admitted")

    def blocked_wave_slots(self) -> Value:
        """Wave slots whose next instruction waits for outstanding fetches or writes."""
        waves, outstanding = self.wave_slots, self.outstanding
        fetch_units = (unit for unit, port in zip(waves.units, self._shapes.ports, strict=True) if port.fetches)
        return Value.cast((waves.waits & outstanding.blocked) | (reduce(or_, fetch_units, Const(0)) & outstanding.full))

    def _pick(self, m: Module, admitted: Value, open_: Value) -> AgeMatrix:
        """The oldest wavefront for each port, then the one whose summary is read, then the one that retires."""
        shapes, waves, every = self._shapes, self.wave_slots, self._threads
        m.submodules.ages = ages = AgeMatrix(every, len(shapes.ports) + 2)
        fetches, retires = ages.candidates[len(shapes.ports) :]

        def where(allowed: Value) -> Value:
            return allowed.replicate(every)

        resources = zip(waves.needs, self.available.resources, strict=True)
        has_all = reduce(and_, (~needs | where(available) for needs, available in resources), open_)
        deferred = (
            self._mask(m, issue.valid, issue.wave, "defers")
            for port, issue in zip(shapes.ports, self._issues(), strict=True)
            if port.defers
        )
        m.d.comb += [
            ages.renew.eq(admitted),
            ages.present.eq(waves.occupied),
            ages.defer.eq(reduce(or_, deferred, Const(0))),
            *(
                ages.candidates[port].eq(has_all & unit & where(self.available.ready[port]))
                for port, unit in enumerate(waves.units)
            ),
            fetches.eq(waves.fetching & ~waves.faulted & where(self.summaries.can_fetch)),
            retires.eq(waves.finished & self.outstanding.drained & where(self.ended.ready)),
        ]
        return ages

    def _connect(self, m: Module, ages: AgeMatrix, number: int, issue: data.View, pcs: DistributedRam) -> None:
        m.d.comb += [
            issue.valid.eq(ages.found[number]),
            issue.wave.eq(ages.oldest[number]),
            issue.pc.eq(pcs.read(m, ages.oldest[number])),
        ]

    def _count_stalls(self, m: Module, ages: AgeMatrix, blocked: Value, open_: Value) -> None:
        waves, available = self.wave_slots, self.available
        lacks = [
            Mux(ready, 0, unit)
            for port, (ready, unit) in enumerate(zip(available.ready, waves.units, strict=True))
            if not self._takes_beats or port != self._shapes.counted
        ]
        for resource, needs, is_there in zip(self._shapes.resources, waves.needs, available.resources, strict=True):
            if resource.is_request:
                lacks.append(Mux(is_there, 0, needs))
        requests = open_ & reduce(or_, lacks)
        loading = waves.waiting | Mux(self.summaries.can_fetch, 0, waves.fetching)
        causes = [blocked, loading, requests, waves.running, self.contexts.taken]
        found = lowest_one(Cat(cause.any() for cause in causes))
        works = ages.found[self._shapes.counted]
        if self._takes_beats:
            works |= ~available.ready[self._shapes.counted]
        m.d.sync += self.stalls.eq(Mux(works, 0, found))

    def _step(self, m: Module, admitted: Value, fetched: data.View) -> None:
        """Each wave slot's next state."""
        waves = self.wave_slots
        vacated = self._occupy(m, admitted)
        issued = Signal(self._threads)
        m.d.comb += issued.eq(reduce(or_, (self._mask(m, each.valid, each.wave, "issues") for each in self._issues())))
        events = {"begun": self.begin, "taken": self.summaries.fetch, "looked_at": fetched, "stopped": self.stop}
        begun, taken, looked_at, stopped = (
            self._mask(m, event.valid, event.wave, name) for name, event in events.items()
        )
        retired = self._mask(m, self.ended.wavefront.valid, self.ended.wavefront.context[:-1], "retired")
        again = self._done(m, "again", lambda done: done.again)
        continues = self._done(m, "continues", lambda done: ~done.again & ~done.ends & ~done.faults & ~done.jumps)
        jumps = self._done(m, "jumps", lambda done: ~done.again & ~done.ends & ~done.faults & done.jumps)
        ends = self._done(m, "ends", lambda done: ~done.again & (done.ends | done.faults))
        faults = self._done(m, "faults", lambda done: ~done.again & done.faults)

        given_up, woken = Signal(self._threads), Signal(self._threads)
        m.d.comb += [
            given_up.eq((waves.ready | waves.waiting | waves.fetching) & waves.faulted),
            woken.eq(Mux(self.available.constants, waves.waiting, 0)),
        ]
        first_valid, first = self._first(m, fetched)
        m.d.sync += [
            waves.faulted.eq((waves.faulted | faults | stopped) & ~admitted),
            waves.fetching.eq(waves.fetching & ~taken & ~given_up | Mux(first_valid, 0, begun) | jumps),
            waves.waiting.eq(waves.waiting & ~woken & ~given_up | again),
            waves.ready.eq(
                (waves.ready & ~issued | woken) & ~given_up | Mux(first_valid, begun, 0) | continues | looked_at
            ),
            waves.running.eq((waves.running & ~given_up & ~ends & ~vacated) | begun),
            waves.finished.eq((waves.finished | given_up) & ~retired | ends),
        ]
        self._learn(m, begun, fetched, first)

    def _done(self, m: Module, name: str, applies: Callable[[data.View], Value]) -> Signal:
        """Wave slots to which a port's `done` applies."""
        found = Signal(self._threads, name=f"done_{name}")
        m.d.comb += found.eq(
            reduce(or_, (self._mask(m, done.valid & applies(done), done.wave, name) for done in self._dones()))
        )
        return found

    def _first(self, m: Module, fetched: data.View) -> tuple[Value, data.View]:
        """Whether the summary of the program's first instruction is valid, and that summary."""
        can_fetch = self.summaries.can_fetch
        valid, held, could_fetch = Signal(), Signal(), Signal()
        summary, held_summary = Signal(self._summary, name="first"), Signal(self._summary, name="held_first")
        m.d.comb += [valid.eq(held), summary.eq(held_summary)]
        with m.If(~fetched.valid):
            m.d.comb += [valid.eq(could_fetch), summary.eq(self.summaries.fetched)]
        m.d.sync += [could_fetch.eq(can_fetch), held.eq(valid & can_fetch), held_summary.eq(summary)]
        return valid, summary

    def _occupy(self, m: Module, admitted: Value) -> Value:
        """Update the free wave slots and contexts. Returns the wave slot that is vacated."""
        occupied, ending, context = self.wave_slots.occupied, self.vacating.ending, self.release.context
        vacates, second, taken = self.vacating.vacates, self.contexts.second, self.contexts.taken
        is_alone = self.outstanding.drained & ~self.wave_slots.faulted
        m.d.comb += vacates.eq(ending.valid & is_alone.bit_select(ending.wave, 1))
        vacated = self._mask(m, vacates & ~ending.failed, ending.wave, "vacated")
        # A released context frees its wave slot if it belongs to the wave slot's latest wavefront.
        releases = self.release.valid & (second.bit_select(context[:-1], 1) == context[-1])
        released = self._mask(m, releases, context[:-1], "released")
        released_context = Mux(self.release.valid, 1 << context, 0)
        m.d.sync += [
            occupied.eq((occupied & ~released & ~vacated) | admitted),
            second.eq(second ^ admitted),
            taken.eq((taken & ~released_context) | Cat(admitted & second, admitted & ~second)),
        ]
        return vacated

    def _learn(self, m: Module, begun: Value, fetched: data.View, first: data.View) -> None:
        """Update each wave slot's summary of its next instruction, and its watchdog."""
        dones = self._dones()
        m.submodules.watchdog = watchdog = Watchdog(self._config, len(dones))
        m.d.comb += [watchdog.most.eq(self.watchdog), watchdog.begin.eq(self.begin)]
        news = [_News(wave=begun, summary=first, expired=Const(0))]
        for done, executed, expires in zip(dones, watchdog.executed, watchdog.expires, strict=True):
            m.d.comb += [executed.valid.eq(done.valid & ~done.again), executed.wave.eq(done.wave)]
            counted = self._mask(m, executed.valid, executed.wave, "counted")
            news.append(_News(wave=counted, summary=done.following, expired=expires))
        expiring = reduce(or_, (Mux(each.expired, each.wave, 0) for each in news[1:]))
        m.d.sync += self.expired.eq((self.expired & ~begun) | expiring)
        expired = Signal(name="has_expired")
        m.d.comb += expired.eq(self.expired.bit_select(fetched.wave, 1))
        looked_at = self._mask(m, fetched.valid, fetched.wave, "learns")
        self._keep(m, [*news, _News(wave=looked_at, summary=self.summaries.fetched, expired=expired)])

    def _keep(self, m: Module, news: list[_News]) -> None:
        """Store new summaries, one at most for each wave slot. An expired wavefront goes to the faulting port."""
        waves, shapes = self.wave_slots, self._shapes
        learned = Signal(self._threads)
        m.d.comb += learned.eq(reduce(or_, (each.wave for each in news)))

        def learn(stored: Signal, facts: list[Value]) -> None:
            new = reduce(or_, (Mux(fact, each.wave, 0) for fact, each in zip(facts, news, strict=True)))
            m.d.sync += stored.eq((stored & ~learned) | new)

        for port, unit in enumerate(waves.units):
            faults = int(port == shapes.faulting)
            learn(unit, [Mux(each.expired, faults, each.summary.unit == port) for each in news])
        learn(waves.waits, [each.summary.waits & ~each.expired for each in news])
        for resource, needs in zip(shapes.resources, waves.needs, strict=True):
            learn(needs, [each.summary[resource.name] & ~each.expired for each in news])

"""A scheduler in plain Python, cycle by cycle: the state of each wavefront, and the next one of each port."""

from collections import Counter
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from ctm.rtl.dpp.shapes import Shapes
from ctm.rtl.lib.age_matrix import ROUND_BITS


class Where(Enum):
    """The state of a wavefront."""

    CLEARING = 0
    FETCHING = 1
    LOOKED_AT = 2
    READY = 3
    PORT = 4
    WAITING = 5
    FINISHED = 6
    RETIRING = 7


IDLE = (Where.READY, Where.WAITING, Where.FETCHING)


@dataclass
class Wavefront:
    """A resident wavefront; `following` is its next instruction's summary by field."""

    where: Where = Where.CLEARING
    pc: int = 0
    following: dict[str, int] = field(default_factory=dict)
    executed: int = 0
    faulted: bool = False
    expired: bool = False


@dataclass
class Inputs:
    """The inputs of a cycle. Events are None or name a wave slot, `release` a context.

    `done` and `ready` have an entry for each port, `available` one for each resource.
    """

    admit: bool
    begin: int | None
    done: list[dict[str, Any] | None]
    ending: int | None
    failed: bool
    stop: int | None
    fetched: dict[str, int]
    release: int | None
    can: dict[str, bool]
    ready: list[bool]
    available: list[bool]
    wake: bool
    blocked: int
    full: int
    drained: int


class SchedulerModel:
    """Wavefronts by wave slot, and their changes in a cycle."""

    def __init__(
        self, shapes: Shapes, threads: int, waves: int, watchdog: int, *, start: int, first: dict[str, int]
    ) -> None:
        self._shapes, self._ports = shapes, range(len(shapes.ports))
        self._threads, self._waves, self._watchdog = threads, waves, watchdog
        self.start, self.first = start, first
        """Where wavefronts start, and that instruction's summary."""
        self._could_fetch, self._knew_first = False, False
        self.wavefronts: dict[int, Wavefront] = {}
        self.vacated: set[int] = set()
        """Contexts of wavefronts that have vacated their wave slots."""
        self._second: Counter[int] = Counter()
        self._order: list[int] = []
        """Wave slots with wavefronts, in the order in which these come."""
        self._rounds: Counter[int] = Counter()
        """How often each wave slot's wavefronts have been deferred."""
        self._deferred: int | None = None
        """The wave slot whose wavefront was deferred in the previous cycle."""

    @property
    def second(self) -> int:
        """A bit for each wave slot: its current or last wavefront has the second context."""
        return sum((count & 1) << wave for wave, count in self._second.items())

    def context(self, wave: int) -> int:
        """The context of a wave slot's current or last wavefront."""
        return wave + self._threads * (self._second[wave] & 1)

    def contexts(self) -> set[int]:
        """Contexts that are not free."""
        return self.vacated | {self.context(wave) for wave in self.wavefronts}

    def free_waves(self) -> list[int]:
        """Wave slots without a wavefront and with a free context, the lowest first."""
        others = {wave: (self.context(wave) + self._threads) % (2 * self._threads) for wave in range(self._waves)}
        return [wave for wave, other in others.items() if wave not in self.wavefronts and other not in self.vacated]

    def vacates(self, now: Inputs) -> bool:
        """Whether the ending wavefront vacates its wave slot, unless its instruction failed."""
        wave = now.ending
        return wave is not None and bool(now.drained >> wave & 1) and not self.wavefronts[wave].faulted

    def _first(self, allowed: Any) -> int | None:
        return next((wave for wave in self._order if allowed(wave, self.wavefronts[wave])), None)

    def _port(self, wavefront: Wavefront) -> int:
        """The port that a wavefront waits for."""
        return self._shapes.faulting if wavefront.expired else wavefront.following["unit"]

    def _lacks(self, wavefront: Wavefront, now: Inputs) -> list[bool]:
        """For each resource that a wavefront needs and that is unavailable, whether it is for a memory request."""
        if wavefront.expired:
            return []
        pairs = zip(self._shapes.resources, now.available, strict=True)
        return [
            resource.is_request for resource, available in pairs if wavefront.following[resource.name] and not available
        ]

    def issued(self, port: int, now: Inputs) -> int | None:
        """The wave slot that a port gets."""

        def allowed(wave: int, wavefront: Wavefront) -> bool:
            if (
                wavefront.where is not Where.READY
                or wavefront.faulted
                or self._port(wavefront) != port
                or not now.ready[port]
            ):
                return False
            return not self._is_held(wave, now) and not self._lacks(wavefront, now)

        return self._first(allowed)

    def looked_at(self, now: Inputs) -> int | None:
        """The wave slot whose instruction is fetched."""
        return self._first(lambda _, g: now.can["fetch"] and g.where is Where.FETCHING and not g.faulted)

    def retired(self, now: Inputs) -> int | None:
        """The wave slot that is retired."""
        return self._first(lambda s, g: now.can["retire"] and g.where is Where.FINISHED and now.drained >> s & 1)

    def _is_held(self, wave: int, now: Inputs) -> bool:
        """Whether a wavefront waits for memory's responses."""
        wavefront = self.wavefronts[wave]
        if wavefront.where is not Where.READY or wavefront.faulted:
            return False
        waits = not wavefront.expired and wavefront.following["waits"] and now.blocked >> wave & 1
        return bool(waits or (self._shapes.ports[self._port(wavefront)].fetches and now.full >> wave & 1))

    def _asks(self, wave: int, now: Inputs) -> bool:
        """Whether a wavefront waits for a resource of memory requests only."""
        wavefront = self.wavefronts[wave]
        if wavefront.where is not Where.READY or wavefront.faulted or self._is_held(wave, now):
            return False
        return not now.ready[self._port(wavefront)] or any(self._lacks(wavefront, now))

    def stall(self, now: Inputs) -> str | None:
        """The cause of a cycle without an issue at the counted port."""
        if self.issued(self._shapes.counted, now) is not None or not self.contexts():
            return None
        states = {wavefront.where for wavefront in self.wavefronts.values()}
        causes = {
            "LOOKUPS": any(self._is_held(wave, now) for wave in self.wavefronts),
            "LOADING": Where.WAITING in states or (Where.FETCHING in states and not now.can["fetch"]),
            "REQUESTS": any(self._asks(wave, now) for wave in self.wavefronts),
            "LATENCY": not states <= {Where.CLEARING, Where.FINISHED, Where.RETIRING},
            "ENDS": True,
        }
        return next(cause for cause, applies in causes.items() if applies)

    def first_is_fetched(self) -> bool:
        """Whether `fetched` is of the first instruction, because no wavefront wanted another one in the last cycle."""
        return all(wavefront.where is not Where.LOOKED_AT for wavefront in self.wavefronts.values())

    def _knows_first(self) -> bool:
        return self._could_fetch if self.first_is_fetched() else self._knew_first

    def step(self, now: Inputs) -> None:
        """The end of a cycle."""
        knows_first = self._knows_first()
        given_up = [
            wavefront for wavefront in self.wavefronts.values() if wavefront.faulted and wavefront.where in IDLE
        ]
        waiting = [wavefront for wavefront in self.wavefronts.values() if wavefront.where is Where.WAITING]
        looked_at = [wavefront for wavefront in self.wavefronts.values() if wavefront.where is Where.LOOKED_AT]
        moves = [(self.issued(port, now), Where.PORT) for port in self._ports]
        moves += [(self.looked_at(now), Where.LOOKED_AT), (self.retired(now), Where.RETIRING)]
        admitted, vacates = self.free_waves()[0] if now.admit else None, self.vacates(now)
        deferred = next(
            (self.issued(number, now) for number, port in enumerate(self._shapes.ports) if port.defers), None
        )
        for wave, where in moves:
            if wave is not None:
                self.wavefronts[wave].where = where
        if self._deferred is not None:
            self._defer(self._deferred)
        self._deferred = deferred
        for wavefront in looked_at:
            wavefront.where, wavefront.following = Where.READY, now.fetched
        for wavefront in waiting:
            wavefront.where = Where.READY if now.wake else wavefront.where
        for wavefront in given_up:
            wavefront.where = Where.FINISHED
        for done in filter(None, now.done):
            self._finish(self.wavefronts[done["wave"]], done)
        if vacates and now.ending is not None and not now.failed:
            self.vacated.add(self.context(now.ending))
            self._leave(now.ending)
        self._come_and_go(now, admitted, knows_first)
        self._could_fetch, self._knew_first = now.can["fetch"], knows_first and now.can["fetch"]

    def _come_and_go(self, now: Inputs, admitted: int | None, knows_first: bool) -> None:
        """Events outside the ports."""
        if now.stop is not None:
            self.wavefronts[now.stop].faulted = True
        if now.begin is not None:
            wavefront = self.wavefronts[now.begin]
            wavefront.where = Where.READY if knows_first else Where.FETCHING
            wavefront.pc, wavefront.following = self.start, self.first
        if now.release in self.vacated:
            self.vacated.remove(now.release)
        elif now.release is not None:
            self._leave(now.release % self._threads)
        if admitted is not None:
            self._second[admitted] += 1
            self.wavefronts[admitted] = Wavefront()
            self._order.append(admitted)

    def _leave(self, wave: int) -> None:
        del self.wavefronts[wave]
        self._order.remove(wave)

    def _defer(self, wave: int) -> None:
        """A wavefront begins its next round: its age is after the last one that is in no later round."""
        self._rounds[wave] += 1
        self._order.remove(wave)
        after = (index for index, other in enumerate(self._order, 1) if not self._is_later(other, wave))
        self._order.insert(max(after, default=0), wave)

    def _is_later(self, one: int, other: int) -> bool:
        """Whether a wave slot is in a later round than another one, as far as rounds are counted."""
        return 0 < (self._rounds[one] - self._rounds[other]) % (1 << ROUND_BITS) < 1 << ROUND_BITS - 1

    def _finish(self, wavefront: Wavefront, done: dict[str, Any]) -> None:
        """A port has done a wavefront's instruction."""
        if done["again"]:
            wavefront.where = Where.WAITING
            return
        wavefront.executed += 1
        wavefront.expired |= wavefront.executed == self._watchdog
        wavefront.pc, wavefront.following = done["pc"], done["following"]
        wavefront.faulted |= bool(done["faults"])
        ends = done["ends"] or done["faults"]
        wavefront.where = Where.FINISHED if ends else Where.FETCHING if done["jumps"] else Where.READY

"""A scheduler in plain Python, cycle by cycle: where each group is, and who comes next."""

from collections import Counter
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ctm.rtl.dpp.shapes import Shapes
from ctm.rtl.lib.age_matrix import ROUND_BITS


class Where(Enum):
    """Where a group is; it is in one place at a time."""

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
class Group:
    """A resident group; `following` is its next instruction's summary by field."""

    where: Where = Where.CLEARING
    pc: int = 0
    following: dict[str, int] | None = None
    executed: int = 0
    faulted: bool = False
    expired: bool = False


@dataclass
class Inputs:
    """What a cycle brings. Events are None or name a slot, `release` a row.

    `done` and `ready` have an entry for each port, `room` one for each resource.
    """

    admit: bool
    begin: int | None
    done: list[dict[str, Any] | None]
    ending: int | None
    stop: int | None
    fetched: dict[str, int]
    release: int | None
    can: dict[str, bool]
    ready: list[bool]
    room: list[bool]
    wake: bool
    blocked: int
    full: int
    quiet: int


class SchedulerModel:
    """Groups by slot, and how a cycle changes them."""

    def __init__(
        self, shapes: Shapes, threads: int, slots: int, watchdog: int, *, start: int, first: dict[str, int]
    ) -> None:
        self._shapes, self._ports = shapes, range(len(shapes.ports))
        self._threads, self._slots, self._watchdog = threads, slots, watchdog
        self.start, self.first = start, first
        """Where groups start, and that instruction's summary."""
        self._could_fetch, self._knew_first = False, False
        self.groups: dict[int, Group] = {}
        self.left: set[int] = set()
        """Rows of groups that have left their slots."""
        self._second: Counter[int] = Counter()
        self._order: list[int] = []
        """Slots with groups, in the order in which these come."""
        self._rounds: Counter[int] = Counter()
        """How often each slot's groups have been deferred."""
        self._deferred: int | None = None
        """The slot whose group was, in the last cycle."""

    @property
    def second(self) -> int:
        """A bit for each slot whose group has, or the last one had, the second of its rows."""
        return sum((count & 1) << slot for slot, count in self._second.items())

    def row(self, slot: int) -> int:
        """Of a slot's group, or of the last one that it had."""
        return slot + self._threads * (self._second[slot] & 1)

    def rows(self) -> set[int]:
        """Those that are not free."""
        return self.left | {self.row(slot) for slot in self.groups}

    def free_slots(self) -> list[int]:
        """Those that have neither a group nor two rows that have not retired, the lowest first."""
        others = {slot: (self.row(slot) + self._threads) % (2 * self._threads) for slot in range(self._slots)}
        return [slot for slot, other in others.items() if slot not in self.groups and other not in self.left]

    def leaves(self, now: Inputs) -> bool:
        """Whether the group that is ending leaves its slot."""
        slot = now.ending
        return slot is not None and bool(now.quiet >> slot & 1) and not self.groups[slot].faulted

    def _first(self, allowed: Any) -> int | None:
        return next((slot for slot in self._order if allowed(slot, self.groups[slot])), None)

    def _port(self, group: Group) -> int:
        """The port that a group waits for."""
        return self._shapes.faulting if group.expired else group.following["unit"]

    def _lacks(self, group: Group, now: Inputs) -> list[bool]:
        """For each resource that a group needs and that has no room, whether it is a place on the way to memory."""
        if group.expired:
            return []
        pairs = zip(self._shapes.resources, now.room, strict=True)
        return [resource.is_request for resource, room in pairs if group.following[resource.name] and not room]

    def issued(self, port: int, now: Inputs) -> int | None:
        """The slot that a port gets."""

        def allowed(slot: int, group: Group) -> bool:
            if group.where is not Where.READY or group.faulted or self._port(group) != port or not now.ready[port]:
                return False
            return not self._is_held(slot, now) and not self._lacks(group, now)

        return self._first(allowed)

    def looked_at(self, now: Inputs) -> int | None:
        """The slot whose instruction is looked at."""
        return self._first(lambda _, g: now.can["fetch"] and g.where is Where.FETCHING and not g.faulted)

    def retired(self, now: Inputs) -> int | None:
        """The slot that is retired."""
        return self._first(lambda s, g: now.can["retire"] and g.where is Where.FINISHED and now.quiet >> s & 1)

    def _is_held(self, slot: int, now: Inputs) -> bool:
        """Whether a group waits for what it has asked of memory."""
        group = self.groups[slot]
        if group.where is not Where.READY or group.faulted:
            return False
        waits = not group.expired and group.following["waits"] and now.blocked >> slot & 1
        return bool(waits or (self._shapes.ports[self._port(group)].looks_up and now.full >> slot & 1))

    def _asks(self, slot: int, now: Inputs) -> bool:
        """Whether a group could be issued if there were room on the way to memory."""
        group = self.groups[slot]
        if group.where is not Where.READY or group.faulted or self._is_held(slot, now):
            return False
        return not now.ready[self._port(group)] or any(self._lacks(group, now))

    def stall(self, now: Inputs) -> str | None:
        """Why nothing is issued at the counted port."""
        if self.issued(self._shapes.counted, now) is not None or not self.rows():
            return None
        places = {group.where for group in self.groups.values()}
        causes = {
            "LOOKUPS": any(self._is_held(slot, now) for slot in self.groups),
            "LOADING": Where.WAITING in places or (Where.FETCHING in places and not now.can["fetch"]),
            "REQUESTS": any(self._asks(slot, now) for slot in self.groups),
            "LATENCY": not places <= {Where.CLEARING, Where.FINISHED, Where.RETIRING},
            "ENDS": True,
        }
        return next(cause for cause, applies in causes.items() if applies)

    def first_is_fetched(self) -> bool:
        """Whether `fetched` is of the first instruction, because no group wanted another one in the last cycle."""
        return all(group.where is not Where.LOOKED_AT for group in self.groups.values())

    def _knows_first(self) -> bool:
        return self._could_fetch if self.first_is_fetched() else self._knew_first

    def step(self, now: Inputs) -> None:
        """The end of a cycle."""
        knows_first = self._knows_first()
        given_up = [group for group in self.groups.values() if group.faulted and group.where in IDLE]
        waiting = [group for group in self.groups.values() if group.where is Where.WAITING]
        looked_at = [group for group in self.groups.values() if group.where is Where.LOOKED_AT]
        moves = [(self.issued(port, now), Where.PORT) for port in self._ports]
        moves += [(self.looked_at(now), Where.LOOKED_AT), (self.retired(now), Where.RETIRING)]
        admitted, leaves = self.free_slots()[0] if now.admit else None, self.leaves(now)
        deferred = next(
            (self.issued(number, now) for number, port in enumerate(self._shapes.ports) if port.defers), None
        )
        for slot, where in moves:
            if slot is not None:
                self.groups[slot].where = where
        if self._deferred is not None:
            self._defer(self._deferred)
        self._deferred = deferred
        for group in looked_at:
            group.where, group.following = Where.READY, now.fetched
        for group in waiting:
            group.where = Where.READY if now.wake else group.where
        for group in given_up:
            group.where = Where.FINISHED
        for done in filter(None, now.done):
            self._finish(self.groups[done["slot"]], done)
        if leaves:
            self.left.add(self.row(now.ending))
            self._leave(now.ending)
        self._come_and_go(now, admitted, knows_first)
        self._could_fetch, self._knew_first = now.can["fetch"], knows_first and now.can["fetch"]

    def _come_and_go(self, now: Inputs, admitted: int | None, knows_first: bool) -> None:
        """Events outside the ports."""
        if now.stop is not None:
            self.groups[now.stop].faulted = True
        if now.begin is not None:
            group = self.groups[now.begin]
            group.where = Where.READY if knows_first else Where.FETCHING
            group.pc, group.following = self.start, self.first
        if now.release in self.left:
            self.left.remove(now.release)
        elif now.release is not None:
            self._leave(now.release % self._threads)
        if admitted is not None:
            self._second[admitted] += 1
            self.groups[admitted] = Group()
            self._order.append(admitted)

    def _leave(self, slot: int) -> None:
        del self.groups[slot]
        self._order.remove(slot)

    def _defer(self, slot: int) -> None:
        """A group comes to its next round: it goes behind the last one that is in no later round."""
        self._rounds[slot] += 1
        self._order.remove(slot)
        behind = (place for place, other in enumerate(self._order, 1) if not self._is_later(other, slot))
        self._order.insert(max(behind, default=0), slot)

    def _is_later(self, one: int, other: int) -> bool:
        """Whether a slot is in a later round than another one, as far as rounds are counted."""
        return 0 < (self._rounds[one] - self._rounds[other]) % (1 << ROUND_BITS) < 1 << ROUND_BITS - 1

    def _finish(self, group: Group, done: dict[str, Any]) -> None:
        """A port leaves a group."""
        if done["again"]:
            group.where = Where.WAITING
            return
        group.executed += 1
        group.expired |= group.executed == self._watchdog
        group.pc, group.following = done["pc"], done["following"]
        group.faulted |= bool(done["faults"])
        ends = done["ends"] or done["faults"]
        group.where = Where.FINISHED if ends else Where.FETCHING if done["jumps"] else Where.READY

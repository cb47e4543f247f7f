"""Ends of Amaranth streams that are looked at and driven cycle by cycle, by one coroutine that sees them in order."""

import random
from collections import deque
from typing import Any, TypedDict

_POISON = 0xA5


class Pace(TypedDict):
    """How often an end pauses, and the seed of when."""

    pauses: float
    seed: int


class _End:
    """One end of a stream."""

    def __init__(self, dut: Any, name: str, *, pauses: float, seed: int) -> None:
        self._name, self._pauses, self._generator = name, pauses, random.Random(f"{name}{seed}")
        self._valid, self._payload = getattr(dut, f"{name}__valid"), getattr(dut, f"{name}__payload")
        # A stream that is always ready has no such port.
        self._ready: Any = getattr(dut, f"{name}__ready", None)

    def _pauses_now(self) -> bool:
        return self._generator.random() < self._pauses


class Taker(_End):
    """Takes what the design offers, pausing with a probability in each cycle; what waits must stay as it is."""

    def __init__(self, dut: Any, name: str, *, pauses: float, seed: int) -> None:
        super().__init__(dut, name, pauses=pauses, seed=seed)
        self._waiting: int | None = None
        self._takes = self._ready is None
        if self._ready is not None:
            self._ready.value = 0

    def look(self) -> int | None:
        """At a clock edge: the payload that went over.

        Raises
        ------
        AssertionError
            A payload changed or went away before it was taken.
        """
        offered = int(self._payload.value) if self._valid.value == 1 else None
        assert self._waiting is None or offered == self._waiting, f"{self._name}: a payload changed or went away"
        self._waiting = None if self._takes else offered
        return offered if self._takes else None

    def drive(self, *, can: bool = True) -> None:
        """Be ready in the next cycle, or stall; without `can` it is not ready."""
        takes = can and not self._pauses_now()
        if takes != self._takes:
            self._takes = self._ready.value = takes


class Giver(_End):
    """Offers payloads in order, each not before its cycle, until it is taken; what is not valid is a poison."""

    def __init__(self, dut: Any, name: str, *, pauses: float, seed: int) -> None:
        super().__init__(dut, name, pauses=pauses, seed=seed)
        self._poison = int.from_bytes(bytes([_POISON]) * 512, "little") & (1 << len(self._payload)) - 1
        self._queue: deque[tuple[int, int]] = deque()
        self._offers = False
        self._valid.value, self._payload.value = 0, self._poison

    def __len__(self) -> int:
        return len(self._queue)

    def give(self, payload: int, due: int = 0) -> None:
        """Offer a payload from cycle `due` on."""
        self._queue.append((payload, due))

    def look(self) -> int | None:
        """At a clock edge: the payload that went over."""
        if not self._offers or (self._ready is not None and self._ready.value != 1):
            return None
        self._offers, self._valid.value, self._payload.value = False, 0, self._poison
        return self._queue.popleft()[0]

    def drive(self, now: int) -> None:
        """Offer in cycle `now`, or stall."""
        if not self._offers and self._queue and self._queue[0][1] <= now and not self._pauses_now():
            self._offers, self._valid.value, self._payload.value = True, 1, self._queue[0][0]

"""BufferQueue against a list: order, ids, errors, and what a discard drops."""

from collections import deque
from typing import Any

import numpy as np
import pytest
from amaranth import Value

from ctm.rtl.host.queue import BufferQueue
from ctm.rtl.isa.host import QUEUE_DEPTH
from ctm.tb.lib.streams import simulate

CYCLES = 600


class Reference:
    """What the queue holds and counts, and whether a buffer that was taken is in flight."""

    def __init__(self) -> None:
        self.waiting: deque[int] = deque()
        self.submitted = self.consumed = self.refusals = self.discards = 0
        self.is_busy = self.was_offered = False

    def check(self, context: Any, queue: BufferQueue, *, push: bool, hold: bool) -> tuple[bool, bool]:
        """Compare with the hardware in this cycle; whether it is full, and whether it offers a buffer."""
        full, offered = bool(context.get(queue.full)), bool(context.get(queue.buffer.valid))
        assert full == (len(self.waiting) == QUEUE_DEPTH)
        assert context.get(queue.rejected) == (push and full)
        assert context.get(queue.last_submitted) == self.submitted
        assert context.get(queue.last_consumed) == self.consumed
        assert context.get(queue.empty) == (self.submitted == self.consumed)
        assert offered or not self.was_offered, "an offer is held"
        assert self.was_offered or not (offered and hold), "nothing new is offered"
        assert not offered or context.get(Value.cast(queue.buffer.payload)) == self.waiting[0]
        return full, offered

    def discard(self) -> None:
        """Drop everything."""
        self.waiting.clear()
        self.consumed, self.discards = self.submitted, self.discards + 1
        self.is_busy = self.was_offered = False

    def step(self, number: int | None, *, full: bool, offered: bool, takes: bool, ends: bool) -> None:
        """A cycle: `number` is pushed, the offer taken, the buffer in flight ends."""
        if ends:
            self.is_busy, self.consumed = False, self.consumed + 1
        if offered and takes:
            self.waiting.popleft()
            self.is_busy = True
        if number is not None and not full:
            self.waiting.append(number)
            self.submitted += 1
        self.refusals += int(number is not None and full)
        self.was_offered = offered and not takes


@pytest.mark.parametrize(("busy_share", "hold_share"), [(0.1, 0), (0.5, 0.3), (0.9, 0.3), (0.5, 0.9)])
def test_the_queue_does_what_a_list_does(busy_share: float, hold_share: float) -> None:
    queue, generator, reference = BufferQueue(), np.random.default_rng(5), Reference()

    async def testbench(context: Any) -> None:
        for number in range(CYCLES):
            push, discard, hold = (bool(generator.random() < share) for share in (0.4, 0.02, hold_share))
            takes = not reference.is_busy and bool(generator.random() >= busy_share)
            ends = reference.is_busy and bool(generator.random() < 0.5)
            for port, value in (
                (queue.push, push), (queue.discard, discard), (queue.hold, hold), (queue.consumed, ends),
                (queue.buffer.ready, takes), (Value.cast(queue.entry), number),
            ):  # fmt: skip
                context.set(port, int(value))
            full, offered = reference.check(context, queue, push=push, hold=hold)
            if discard:
                reference.discard()
            else:
                reference.step(number if push else None, full=full, offered=offered, takes=takes, ends=ends)
            await context.tick()

    simulate(queue, testbench)
    assert reference.discards
    assert reference.refusals or busy_share < 0.5


def test_eight_buffers_wait_and_the_ninth_is_rejected() -> None:
    queue = BufferQueue()

    async def testbench(context: Any) -> None:
        context.set(queue.hold, 1)
        context.set(queue.push, 1)
        for _ in range(QUEUE_DEPTH):
            assert not context.get(queue.full) and not context.get(queue.rejected)
            await context.tick()
        assert context.get(queue.full) and context.get(queue.rejected)
        await context.tick()
        assert context.get(queue.last_submitted) == QUEUE_DEPTH

    simulate(queue, testbench)

"""RequestKeeper: what it keeps, and what it drops."""

from collections.abc import Iterable
from typing import Any

import pytest

from ctm.rtl.board.requests import RequestKeeper
from ctm.rtl.isa.link import LARGEST
from ctm.tb.lib.streams import simulate

HEADER = bytes(range(1, 9))
CRC = bytes(4)


@pytest.fixture(scope="module")
def keeper() -> RequestKeeper:
    return RequestKeeper()


async def feed(context: Any, keeper: Any, data: Iterable[int]) -> bool:
    """A frame; whether it is kept."""
    context.set(keeper.begins, 1)
    await context.tick()
    context.set(keeper.begins, 0)
    context.set(keeper.byte.valid, 1)
    for byte in data:
        context.set(keeper.byte.bits, byte)
        await context.tick()
    context.set(keeper.byte.valid, 0)
    context.set(keeper.good, 1)
    kept = bool(context.get(keeper.arrives))
    await context.tick()
    context.set(keeper.good, 0)
    if kept:
        context.set(keeper.held, 1)
        await context.tick()
    return kept


@pytest.mark.parametrize("count", [0, 1, LARGEST])
def test_a_request_is_kept_with_its_data(keeper: RequestKeeper, count: int) -> None:
    data = bytes(3 * index % 256 for index in range(count))

    async def testbench(context: Any) -> None:
        assert await feed(context, keeper, HEADER + data + CRC)
        request = keeper.request
        assert context.get(request.whole) and context.get(request.brought) == count
        assert context.get(request.header.address) == 0x0807_0605
        assert context.get(request.header.length) == 0x0403
        # Another one meanwhile is lost.
        assert not await feed(context, keeper, bytes(20))
        assert context.get(request.brought) == count
        found = bytearray()
        context.set(keeper.data.ready, 1)
        while len(found) < count:
            if context.get(keeper.data.valid):
                found.append(context.get(keeper.data.payload))
            await context.tick()
        assert found == data

    simulate(keeper, testbench)


@pytest.mark.parametrize(("count", "whole"), [(0, False), (11, False), (12, True), (12 + LARGEST, True),
                                              (13 + LARGEST, False), (5000, False)])  # fmt: skip
def test_it_knows_whether_a_request_is_whole(keeper: RequestKeeper, count: int, whole: bool) -> None:
    async def testbench(context: Any) -> None:
        assert await feed(context, keeper, bytes(count))
        assert context.get(keeper.request.whole) == whole

    simulate(keeper, testbench)


def test_a_frame_that_begins_while_a_request_is_held_is_dropped_to_its_end(keeper: RequestKeeper) -> None:
    async def testbench(context: Any) -> None:
        assert await feed(context, keeper, HEADER + b"x" + CRC)
        context.set(keeper.begins, 1)
        await context.tick()
        context.set(keeper.begins, 0)
        context.set(keeper.held, 0)
        context.set(keeper.good, 1)
        assert not context.get(keeper.arrives)
        await context.tick()
        context.set(keeper.good, 0)
        # The next one is whole again.
        assert await feed(context, keeper, HEADER + CRC)

    simulate(keeper, testbench)

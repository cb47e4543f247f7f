"""SharedClient: responses go to the client of the request, all beats of them, at any latency."""

from typing import Any

import numpy as np
import pytest
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.lib.sharing import SharedClient
from ctm.tb.lib.streams import STALLS, Sink, Source, cycle, simulate

EACH = 20
DEADLINE = 6000
OUTSTANDING = 4
CLIENT = wiring.Signature({"request": Out(stream.Signature(12)), "response": In(stream.Signature(16))})


def response(request: int, beat: int) -> int:
    return request << 4 | beat


@pytest.mark.parametrize("memory_stall", STALLS)
@pytest.mark.parametrize("client_stall", STALLS)
@pytest.mark.parametrize(("count", "beats"), [(1, 1), (2, 4), (3, 1), (4, 3)])
def test_each_client_gets_the_responses_to_its_own_requests(count, beats, client_stall, memory_stall):
    generator = np.random.default_rng(count)
    client = SharedClient(CLIENT, count, beats=beats, outstanding=OUTSTANDING)
    asking = [Source(each.request, generator, client_stall) for each in client.clients]
    for number, source in enumerate(asking):
        source.waiting = [number << 8 | index for index in range(EACH)]
    sinks = [Sink(each.response, generator, client_stall) for each in client.clients]
    memory, responses = (
        Sink(client.shared.request, generator, memory_stall),
        Source(client.shared.response, generator, memory_stall),
    )
    ends = [*asking, *sinks, memory, responses]
    most = 0

    async def testbench(context: Any) -> None:
        nonlocal most
        for number in range(DEADLINE):
            served = len(memory.received)
            await cycle(context, ends)
            # Memory responds to nothing in the first cycles, so the queue of requests in flight fills.
            for request in memory.received[served:]:
                held.extend(response(request, beat) for beat in range(beats))
            if number > 30:
                responses.waiting += held
                held.clear()
            most = max(most, len(memory.received) - len(responses.taken) // beats)
            if sum(len(sink.received) for sink in sinks) == count * EACH * beats:
                return
        raise AssertionError("responses are missing")

    held: list[int] = []
    simulate(client, testbench)
    assert most == OUTSTANDING
    for number, sink in enumerate(sinks):
        own = [number << 8 | index for index in range(EACH)]
        assert sink.received == [response(request, beat) for request in own for beat in range(beats)]


def test_a_response_without_a_request_is_not_taken():
    client = SharedClient(CLIENT, 2)

    async def testbench(context: Any) -> None:
        for _ in range(5):
            context.set(client.shared.response.valid, 1)
            for each in client.clients:
                context.set(each.response.ready, 1)
            assert not context.get(client.shared.response.ready)
            assert not any(context.get(each.response.valid) for each in client.clients)
            await context.tick()

    simulate(client, testbench)

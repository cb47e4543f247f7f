"""MemoryBounds: responses in the order of the requests, errors for those beyond, and nothing of these in memory."""

from typing import Any

import numpy as np
import pytest

from ctm.rtl.board.bounds import MemoryBounds
from ctm.rtl.isa.word import pack, unpack
from ctm.rtl.mc.bus.axi import BURST, Response, read_beat_layout, write_beat_layout
from ctm.tb.lib.streams import STALLS, Sink, Source, cycle, simulate

SIZE, DATA_BITS = 1 << 12, 64
READ, WRITE = read_beat_layout(DATA_BITS), write_beat_layout(DATA_BITS)
COUNT = 60
_DEADLINE = 4000


class Memory:
    """After the bounds: responds to a read of an address with the address, in order, at random times."""

    def __init__(self, outer: Any, generator: np.random.Generator, stall: float) -> None:
        self.reads, self.writes = Sink(outer.ar, generator, stall), Sink(outer.aw, generator, stall)
        self.beats = Sink(outer.w, generator, stall)
        self.data, self.responses_of_writes = Source(outer.r, generator, stall), Source(outer.b, generator, stall)
        self._read = self._written = self._ended = 0

    def respond(self) -> None:
        """After each cycle."""
        for burst in (unpack(BURST, word) for word in self.reads.received[self._read :]):
            for beat in range(burst["length"] + 1):
                last = beat == burst["length"]
                self.data.waiting.append(pack(READ, bits=burst["address"] + 8 * beat, response=0, last=last))
        self._read = len(self.reads.received)
        ended = sum(unpack(WRITE, word)["last"] for word in self.beats.received)
        self.responses_of_writes.waiting += [0] * (ended - self._ended)
        self._ended = ended
        assert self._ended <= len(self.writes.received), "beats never go to memory before their address"


def bursts(generator: np.random.Generator) -> list[dict[str, int]]:
    near = generator.choice([0, 64, SIZE - 64, SIZE, SIZE + 64, 1 << 31], COUNT)
    return [{"address": int(address), "length": int(generator.integers(0, 8))} for address in near]


@pytest.mark.parametrize("stall", STALLS)
def test_an_address_beyond_gets_its_error_in_order(stall: float) -> None:
    generator = np.random.default_rng(round(10 * stall))
    bounds: Any = MemoryBounds(SIZE, DATA_BITS)
    inner = bounds.inner
    reads, writes = bursts(generator), bursts(generator)
    addresses, write_addresses, write_beats = (Source(port, generator, stall) for port in (inner.ar, inner.aw, inner.w))
    data, responses = Sink(inner.r, generator, stall), Sink(inner.b, generator, stall)
    addresses.waiting = [pack(BURST, **burst) for burst in reads]
    write_addresses.waiting = [pack(BURST, **burst) for burst in writes]
    for number, burst in enumerate(writes):
        write_beats.waiting += [
            pack(WRITE, bits=number, strobe=255, last=beat == burst["length"]) for beat in range(burst["length"] + 1)
        ]
    memory = Memory(bounds.outer, generator, stall)
    ends = [addresses, write_addresses, write_beats, data, responses]
    ends += [memory.reads, memory.writes, memory.beats, memory.data, memory.responses_of_writes]
    beats = sum(burst["length"] + 1 for burst in reads)

    async def testbench(context: Any) -> None:
        for _ in range(_DEADLINE):
            await cycle(context, ends)
            memory.respond()
            if len(data.received) == beats and len(responses.received) == COUNT:
                return
        raise AssertionError("responses are missing")

    simulate(bounds, testbench)
    expected = []
    for burst in reads:
        for beat in range(burst["length"] + 1):
            inside, last = burst["address"] < SIZE, beat == burst["length"]
            bits, response = (burst["address"] + 8 * beat, Response.OKAY) if inside else (0, Response.DECERR)
            expected.append(pack(READ, bits=bits, response=response.value, last=last))
    assert data.received == expected
    decided = [Response.OKAY if burst["address"] < SIZE else Response.DECERR for burst in writes]
    assert responses.received == [response.value for response in decided]
    kept = [number for number, burst in enumerate(writes) if burst["address"] < SIZE]
    assert [unpack(WRITE, word)["bits"] for word in memory.beats.received] == [
        number for number in kept for _ in range(writes[number]["length"] + 1)
    ]
    assert all(unpack(BURST, word)["address"] < SIZE for word in memory.reads.received + memory.writes.received)

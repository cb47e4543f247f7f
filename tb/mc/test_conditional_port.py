"""The cache of the conditional buffer alone: accesses of all kinds between each other, which the unit never mixes."""

from collections import deque
from typing import Any

import numpy as np
import pytest
from amaranth import Value

from ctm.rtl.border.conditional import CHANGE, access_layout
from ctm.rtl.border.lines import LINE_REQUEST, line_response_layout
from ctm.rtl.config import CacheConfig
from ctm.rtl.isa.word import pack, unpack
from ctm.rtl.mc.conditional.cache import ConditionalCache
from ctm.tb.lib.some import fewer
from ctm.tb.lib.streams import STALLS, Source, simulate

LINE, LINES, WORDS = 64, 24, 16
PASSENGER_BITS = 16
CONFIG = CacheConfig(sets=2, ways=2)
OUTSTANDING, WAITING = 3, 6
EACH, DEADLINE = fewer(600), 40_000


class Surroundings:
    """The client and memory of a cache, byte by byte."""

    def __init__(self, cache: ConditionalCache, seed: int, stall: float) -> None:
        self.generator, self.stall, self.cache = np.random.default_rng(seed), stall, cache
        self.memory = bytearray(self.generator.bytes(LINES * LINE))
        self.expected = bytearray(self.memory)
        self.accesses = Source(cache.client.access, self.generator, stall)
        self.waiting: deque[dict[str, int]] = deque()
        self.reads: deque[tuple[int, int]] = deque()
        self.writes: deque[int] = deque()
        self.now = self.compared = 0
        self.position = 0, 0
        self.change: tuple[int, int] | None = None
        self.responds, self.slice = False, 0
        # Slices of the line that is being written that are to come, and whether results wait for them.
        self.remaining, self.waits_for_lines, self.cut = 0, False, 0

    def access(self, number: int) -> dict[str, int]:
        """Half of them touch the word of the one before, and most of the others few words."""
        if self.generator.random() < 0.5:
            line = int(self.generator.choice([self.generator.integers(0, LINES), self.generator.integers(0, 3)]))
            self.position = line, int(self.generator.choice([0, 1, int(self.generator.integers(0, WORDS))]))
        return {
            "line": self.position[0], "word": self.position[1],
            "touches": int(self.generator.random() < 0.9), "reads": int(self.generator.random() < 0.5),
            "passenger": number % (1 << PASSENGER_BITS),
        }  # fmt: skip

    def offer(self, count: int) -> None:
        """Let the client make so many accesses."""
        for number in range(count):
            access = self.access(number)
            self.waiting.append(access)
            self.accesses.waiting.append(pack(access_layout(PASSENGER_BITS), **access))

    async def cycle(self, context: Any) -> None:
        """One clock cycle."""
        self.accesses.drive(context)
        self._drive_memory(context)
        self._take_result(context)
        self._watch_memory(context)
        self.accesses.finish(context)
        self.now += 1
        await context.tick()

    def _withholds(self) -> bool:
        return bool(self.generator.random() < self.stall)

    def _drive_memory(self, context: Any) -> None:
        self.responds = bool(self.reads) and self.reads[0][1] <= self.now and not self._withholds()
        response = self.cache.lines.response
        size = len(response.payload.bits) // 8
        first = self.reads[0][0] * LINE + self.slice * size if self.responds else 0
        bits = int.from_bytes(self.memory[first : first + size], "little") if self.responds else 0
        context.set(response.valid, self.responds)
        context.set(
            Value.cast(response.payload), pack(line_response_layout(8 * size), bits=bits, slice=self.slice)
        )  # fmt: skip
        context.set(self.cache.lines.request.ready, not self._withholds())
        context.set(self.cache.line_write.ready, not self._withholds())
        context.set(self.cache.line_written.valid, bool(self.writes) and self.writes[0] <= self.now)

    def _take_result(self, context: Any) -> None:
        """The result that is given, if any, is compared, and some of its bytes are changed."""
        client = self.cache.client
        # Without a result, a change means nothing.
        change = pack(CHANGE, bits=int.from_bytes(self.generator.bytes(4), "little"), mask=0b1111)
        waits = self._withholds() or (self.waits_for_lines and self.remaining)
        if context.get(client.result.valid) and not waits:
            access = self.waiting.popleft()
            assert context.get(client.result.passenger) == access["passenger"]
            assert not context.get(client.result.error)
            change = self._change(access, context.get(client.result.bits))
        context.set(client.ready, not waits)
        context.set(Value.cast(client.change), change)

    def _change(self, access: dict[str, int], bits: int) -> int:
        if not access["touches"]:
            return 0
        first = access["line"] * LINE + 4 * access["word"]
        mask = int(self.generator.choice([0, 0b1111, 0b0011, 0b1100, int(self.generator.integers(0, 16))]))
        new = self.generator.bytes(4)
        for byte in range(4):
            if access["reads"]:
                assert bits >> 8 * byte & 0xFF == self.expected[first + byte], (self.now, access, byte)
                self.compared += 1
            if mask >> byte & 1:
                self.expected[first + byte] = new[byte]
        return pack(CHANGE, bits=int.from_bytes(new, "little"), mask=mask)

    def _watch_memory(self, context: Any) -> None:
        if self.responds:
            assert context.get(self.cache.lines.response.ready)
            self.slice = (self.slice + 1) % (8 * LINE // len(self.cache.lines.response.payload.bits))
            if not self.slice:
                self.reads.popleft()
        if self.writes and self.writes[0] <= self.now and context.get(self.cache.line_written.ready):
            self.writes.popleft()
        request, write = self.cache.lines.request, self.cache.line_write
        if context.get(request.valid) and context.get(request.ready):
            line = unpack(LINE_REQUEST, context.get(Value.cast(request.payload)))["line"]
            self.reads.append((line, self.now + int(self.generator.integers(1, 12))))
        if context.get(write.valid) and context.get(write.ready):
            each = unpack(write.payload.shape(), context.get(Value.cast(write.payload)))
            size = len(write.payload.mask)
            for byte in range(size):
                if each["mask"] >> byte & 1:
                    self.memory[each["line"] * LINE + size * each["slice"] + byte] = each["bits"] >> 8 * byte & 0xFF
            self.remaining = each["remaining"]
            self.cut += self.remaining > 0
            if not self.remaining:
                self.writes.append(self.now + int(self.generator.integers(1, 12)))


@pytest.mark.long
@pytest.mark.parametrize("stall", STALLS)
@pytest.mark.parametrize("seed", range(1, 5))
def test_many_mixed_accesses(seed, stall):
    check_mixed_accesses(seed, stall, 4 * EACH, (512, 128, 64)[seed % 3])


@pytest.mark.slow
@pytest.mark.parametrize("slice_bits", [512, 128, 64])
def test_mixed_accesses_see_what_those_before_them_have_changed(slice_bits):
    check_mixed_accesses(0, 0.3, EACH, slice_bits)


@pytest.mark.parametrize("slice_bits", [128, 64])
def test_a_line_is_written_to_its_end_while_no_result_is_taken(slice_bits):
    """What takes results may wait for the port that has the line's first slice."""
    assert check_mixed_accesses(0, 0.0, EACH, slice_bits, waits_for_lines=True).cut > 20


def check_mixed_accesses(
    seed: int, stall: float, count: int, slice_bits: int, *, waits_for_lines: bool = False
) -> Surroundings:
    cache = ConditionalCache(
        PASSENGER_BITS, CONFIG, outstanding=OUTSTANDING, waiting=WAITING, slice_bits=slice_bits
    )  # fmt: skip
    around = Surroundings(cache, seed, stall)
    around.waits_for_lines = waits_for_lines

    async def testbench(context: Any) -> None:
        for number in range(4):
            around.offer(count // 4)
            while around.waiting or not context.get(cache.idle):
                await around.cycle(context)
                assert around.now < DEADLINE
            if number % 2:
                context.set(cache.flush, 1)
                while not context.get(cache.flushed):
                    await around.cycle(context)
                    assert around.now < DEADLINE
                assert around.memory == around.expected and not around.writes
                context.set(cache.flush, 0)
            context.set(cache.invalidate, 1)
            await around.cycle(context)
            context.set(cache.invalidate, 0)

    simulate(cache, testbench)
    assert around.compared > count // 2
    return around

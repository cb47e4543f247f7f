"""CommandFetcher: the words of buffers in order, whoever waits for whom."""

from typing import Any

import numpy as np
import pytest

from ctm.rtl.border.lines import LINE_BYTES
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.pe.fetcher import CommandFetcher
from ctm.tb.lib.planting import Fault, planted
from ctm.tb.lib.streams import simulate

BUFFERS, MOST_WORDS, DEADLINE = 25, 700, 4000
WORD_BYTES = WORD_BITS // 8


def word_at(address: int) -> int:
    """What memory holds there."""
    return address * 0x9E37_79B1 & (1 << WORD_BITS) - 1


def refuses(line: int) -> bool:
    """Whether memory refuses a line."""
    return line % 7 == 0


class Memory:
    """Takes requests and answers them in order, each at random."""

    def __init__(self, unit: CommandFetcher, generator: np.random.Generator, share: float) -> None:
        self._lines, self._generator, self._share = unit.lines, generator, share
        self._wanted: list[int] = []
        self._waiting: int | None = None
        self.asked: list[int] = []

    def drive(self, context: Any) -> None:
        """Set the ports for this cycle."""
        context.set(self._lines.request.ready, bool(self._generator.random() < self._share))
        offers = bool(self._wanted) and (
            bool(context.get(self._lines.response.valid)) or self._generator.random() < self._share
        )
        context.set(self._lines.response.valid, offers)
        if offers:
            line = self._wanted[0]
            words = (word_at(line * LINE_BYTES + place) << 8 * place for place in range(0, LINE_BYTES, WORD_BYTES))
            context.set(self._lines.response.payload, {"bits": sum(words), "refused": refuses(line)})

    def finish(self, context: Any) -> None:
        """Take what was handed over in this cycle."""
        request, response = self._lines.request, self._lines.response
        line = int(context.get(request.payload.line)) if context.get(request.valid) else None
        assert self._waiting is None or self._waiting == line, "a request changed or went away"
        self._waiting = line
        if context.get(response.valid) and context.get(response.ready):
            self._wanted.pop(0)
        if line is not None and context.get(request.ready):
            self._wanted.append(line)
            self.asked.append(line)
            self._waiting = None


@pytest.mark.parametrize("takes", [1.0, 0.6, 0.05])
@pytest.mark.parametrize("share", [1.0, 0.2])
def test_words_come_in_order_and_no_line_twice(takes: float, share: float) -> None:
    generator = np.random.default_rng(round(100 * takes + 10 * share))
    unit = CommandFetcher()
    memory, words = Memory(unit, generator, share), unit.words

    async def cycle(context: Any) -> None:
        memory.finish(context)
        await context.tick()

    async def read(context: Any, address: int, dwords: int, count: int) -> None:
        """Begin a buffer, take `count` of its words, and drop the rest."""
        memory.drive(context)
        context.set(unit.begin, {"valid": 1, "buffer": {"address": address, "dwords": dwords}})
        await cycle(context)
        context.set(unit.begin.valid, 0)
        found, passed = 0, 0
        while found < count:
            passed += 1
            assert passed < DEADLINE / min(takes, share), "no word comes"
            memory.drive(context)
            context.set(words.ready, bool(generator.random() < takes))
            if context.get(words.valid) and context.get(words.ready):
                at = address + WORD_BYTES * found
                if refuses(at // LINE_BYTES):
                    assert context.get(words.payload.refused)
                else:
                    assert (context.get(words.payload.word), context.get(words.payload.refused)) == (word_at(at), 0)
                found += 1
            await cycle(context)
        context.set(words.ready, 0)
        for number in range(DEADLINE):
            memory.drive(context)
            context.set(unit.drop, number == 0)
            idle = number and context.get(unit.idle)
            assert not number or not context.get(words.valid)
            if idle:
                return
            await cycle(context)
        raise AssertionError("lines are under way for ever")

    async def testbench(context: Any) -> None:
        for _ in range(BUFFERS):
            address = WORD_BYTES * int(generator.integers(1 << 20))
            dwords = int(generator.integers(1, MOST_WORDS if takes > 0.1 else 50))
            count = dwords if generator.random() < 0.5 else int(generator.integers(dwords))
            memory.asked.clear()
            await read(context, address, dwords, count)
            first, last = address // LINE_BYTES, (address + WORD_BYTES * dwords - 1) // LINE_BYTES
            assert memory.asked == [*range(first, first + len(memory.asked))]
            assert first + len(memory.asked) - 1 <= last

    simulate(unit, testbench)


def test_a_request_stays_while_lines_that_come_take_the_room() -> None:
    """Nobody takes words; the ninth line is offered with room for it, and taken when there is hardly any."""
    unit = CommandFetcher()
    memory = Memory(unit, np.random.default_rng(0), 1.0)

    async def testbench(context: Any) -> None:
        context.set(unit.begin, {"valid": 1, "buffer": {"address": 0x4_0000, "dwords": MOST_WORDS}})
        for number in range(600):
            memory.drive(context)
            # From the eighth line on requests wait for a long time.
            context.set(unit.lines.request.ready, len(memory.asked) < 8 or number % 97 == 0)
            memory.finish(context)
            await context.tick()
            context.set(unit.begin.valid, 0)
        assert 8 < len(memory.asked) <= 16

    simulate(unit, testbench)


FAULTS = {
    "an offered request waits for room": Fault("rtl.pe.fetcher", "(room | offered)", "room"),
    "lines are asked for without room": Fault("rtl.pe.fetcher", "(room | offered)", "1"),
    "words of a dropped buffer come": Fault("rtl.pe.fetcher", "ahead.r_rdy & ~dropping", "ahead.r_rdy"),
    "a line is taken with its first word": Fault("rtl.pe.fetcher", "place == _WORDS - 1", "place == place"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_mistake_is_found(name: str) -> None:
    with planted(FAULTS[name], "ctm.tb.pe.test_fetcher", ("ctm.rtl.pe", "ctm.tb.pe")) as tests:
        with pytest.raises(AssertionError):
            tests.test_a_request_stays_while_lines_that_come_take_the_room()
            tests.test_words_come_in_order_and_no_line_twice(0.6, 0.2)

"""Memory that answers for lines, whose contents follow from their numbers."""

from typing import Any

import numpy as np

from ctm.tb.lib.streams import Sink, Source

LINE_BYTES = 64
_SPACE = 1 << 32


def line(number: int) -> bytes:
    """What memory holds."""
    return np.random.default_rng(number).bytes(LINE_BYTES)


def memory_words(address: int, count: int) -> list[int]:
    """Words of memory; addresses wrap."""
    places = [(address + 4 * word) % _SPACE for word in range(count)]
    return [
        int.from_bytes(line(place // LINE_BYTES)[place % LINE_BYTES :][:4], "little") for place in places
    ]  # fmt: skip


class Lines:
    """Answers requests for lines in order, of a component with a `LineClient` called `lines`."""

    def __init__(self, reader: Any, generator: np.random.Generator, stall: float) -> None:
        self._asked = Sink(reader.lines.request, generator, stall)
        self._source = Source(reader.lines.response, generator, stall)
        self._taken = 0
        self.refused: set[int] = set()
        self.most = 0

    @property
    def numbers(self) -> list[int]:
        return [payload & (1 << 26) - 1 for payload in self._asked.received]

    def drive(self, context: Any) -> None:
        """Set the ports for this cycle."""
        self._asked.drive(context)
        self._source.drive(context)

    def finish(self, context: Any) -> None:
        """Take requests and queue their answers."""
        self._asked.finish(context)
        self._source.finish(context)
        for number in self.numbers[self._taken :]:
            bits = int.from_bytes(line(number), "little")
            self._source.waiting.append(bits | (number in self.refused) << 512)
        self._taken = len(self._asked.received)
        self.most = max(self.most, len(self._source.waiting))

"""Memory that answers for lines, whose contents follow from their numbers."""

from typing import Any

import numpy as np

from ctm.rtl.border.lines import LINE_ADDRESS_BITS, LINE_REQUEST, LINE_RESPONSE, TaggedLineClient
from ctm.tb.lib.streams import Sink, Source

LINE_BYTES = 64
_SPACE = 1 << 32
_LINE = (1 << LINE_ADDRESS_BITS) - 1
TAG, ANSWER_TAG = LINE_REQUEST.size, LINE_RESPONSE.size
"""Where tags begin in requests for lines and in answers, above what is there without tags."""


def line(number: int) -> bytes:
    """What memory holds."""
    return np.random.default_rng(number).bytes(LINE_BYTES)


def memory_words(address: int, count: int) -> list[int]:
    """Words of memory; addresses wrap."""
    indices = [(address + 4 * word) % _SPACE for word in range(count)]
    return [
        int.from_bytes(line(index // LINE_BYTES)[index % LINE_BYTES :][:4], "little") for index in indices
    ]  # fmt: skip


class Lines:
    """Answers requests for lines, of a component with a `LineClient` or `TaggedLineClient` called `lines`.

    With tags the responses come in any order.
    """

    def __init__(self, reader: Any, generator: np.random.Generator, stall: float) -> None:
        self._asked = Sink(reader.lines.request, generator, stall)
        self._source = Source(reader.lines.response, generator, stall)
        self._taken, self._generator = 0, generator
        self._tagged = isinstance(reader.signature.members["lines"].signature, TaggedLineClient)
        self.error_lines: set[int] = set()
        self.most = 0

    @property
    def numbers(self) -> list[int]:
        return [payload & _LINE for payload in self._asked.received]

    def drive(self, context: Any) -> None:
        """Set the ports for this cycle."""
        self._asked.drive(context)
        self._source.drive(context)

    def finish(self, context: Any) -> None:
        """Take requests and queue their responses."""
        self._asked.finish(context)
        self._source.finish(context)
        waiting = self._source.waiting
        for payload in self._asked.received[self._taken :]:
            number, tag = payload & _LINE, payload >> TAG
            bits = int.from_bytes(line(number), "little")
            # The first one may be on offer.
            index = int(self._generator.integers(1, len(waiting) + 1)) if self._tagged and waiting else len(waiting)
            waiting.insert(index, bits | (number in self.error_lines) << 512 | tag << ANSWER_TAG)
        self._taken = len(self._asked.received)
        self.most = max(self.most, len(self._source.waiting))

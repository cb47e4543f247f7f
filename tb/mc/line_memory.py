"""Memory of lines whose contents follow from their numbers."""

from typing import Any

import numpy as np

from ctm.rtl.border.lines import LINE_ADDRESS_BITS, LINE_REQUEST, TaggedLineClient
from ctm.rtl.isa.word import pack, unpack
from ctm.tb.lib.streams import End, Sink, Source

LINE_BYTES = 64
_SPACE = 1 << 32
_LINE = (1 << LINE_ADDRESS_BITS) - 1
TAG = LINE_REQUEST.size
"""Where tags begin in requests for lines, above what is there without tags."""


def line(number: int) -> bytes:
    """What memory holds."""
    return np.random.default_rng(number).bytes(LINE_BYTES)


def memory_words(address: int, count: int) -> list[int]:
    """Words of memory; addresses wrap."""
    indices = [(address + 4 * word) % _SPACE for word in range(count)]
    return [
        int.from_bytes(line(index // LINE_BYTES)[index % LINE_BYTES :][:4], "little") for index in indices
    ]  # fmt: skip


class Lines(End):
    """Serves requests for lines, of a component with a `LineClient` or `TaggedLineClient` called `lines`.

    With tags the responses come in any order.
    """

    def __init__(self, reader: Any, generator: np.random.Generator, stall: float) -> None:
        self._requests = Sink(reader.lines.request, generator, stall)
        self._source = Source(reader.lines.response, generator, stall)
        self._taken, self._generator = 0, generator
        self._tagged = isinstance(reader.signature.members["lines"].signature, TaggedLineClient)
        self._layout: Any = reader.lines.response.payload.shape()
        self.error_lines: set[int] = set()
        self.most = 0

    @property
    def numbers(self) -> list[int]:
        return [payload & _LINE for payload in self._requests.received]

    def drive(self, context: Any) -> None:
        """Set the ports for this cycle."""
        self._requests.drive(context)
        self._source.drive(context)

    def finish(self, context: Any) -> None:
        """Take requests and queue their responses."""
        self._requests.finish(context)
        self._source.finish(context)
        waiting = self._source.waiting
        for payload in self._requests.received[self._taken :]:
            number, tag = payload & _LINE, payload >> TAG
            # Not between slices of another line; the first one may be on offer.
            positions = [index for index in range(1, len(waiting)) if not self._slice(waiting[index])] + [len(waiting)]
            index = int(self._generator.choice(positions)) if self._tagged else len(waiting)
            waiting[index:index] = self._slices(number, tag)
        self._taken = len(self._requests.received)
        self.most = max(self.most, sum(self._slice(payload) == self._last for payload in waiting))

    @property
    def _last(self) -> int:
        return 512 // self._layout["bits"].width - 1

    def _slice(self, payload: int) -> int:
        return unpack(self._layout, payload)["slice"]

    def _slices(self, number: int, tag: int) -> list[int]:
        """The responses of a line; with tags its last slice has the error, without all of them have it."""
        width, data = self._layout["bits"].width, int.from_bytes(line(number), "little")
        found = []
        for index in range(self._last + 1):
            fields = {"bits": data >> width * index & (1 << width) - 1}
            fields["error"] = int((not self._tagged or index == self._last) and number in self.error_lines)
            fields["slice"] = index
            if self._tagged:
                fields["tag"] = tag
            found.append(pack(self._layout, **fields))
        return found

"""The host's copy of a board's memory, and what has to cross the line so that both are the same."""

import struct

import numpy as np

from ctm.rtl.isa.link import BLOCK_BYTES, LARGEST, LINE_BYTES, Request
from ctm.sim.engines.serial.link import Link
from ctm.sim.memory import Memory

_CLEARED = 16 << 20
"""Bytes that a board clears in a second, at least."""
_MAP_BYTES = 8 * BLOCK_BYTES


class Mirror:
    """Keeps the memory of a board equal to `memory`, which is as large.

    A board's memory begins as 0. What the host has written since is found by comparison with what the board is known to
    have; what the machine has written it notes itself, block by block.
    """

    def __init__(self, link: Link, memory: Memory) -> None:
        self._link, self._size = link, (size := memory.size)
        self._own = memory.bytes[:size]
        self._known = np.zeros(size, np.uint8)
        link.ask(Request.CLEAR_MEMORY, data=struct.pack("<I", size), patience=size / _CLEARED)
        link.ask(Request.CLEAR_WRITTEN)

    def send(self) -> None:
        """Give the board all lines that the host has written."""
        words = self._own.view(np.uint64) != self._known.view(np.uint64)
        lines = np.flatnonzero(words.reshape(-1, LINE_BYTES // 8).any(axis=1))
        for run in _runs(lines, LARGEST // LINE_BYTES):
            span = slice(int(run[0]) * LINE_BYTES, (int(run[-1]) + 1) * LINE_BYTES)
            # A copy, as another thread may write its own bytes of a run of lines meanwhile.
            data = self._own[span].copy()
            self._link.ask(Request.WRITE_MEMORY, address=span.start, data=data.tobytes())
            self._known[span] = data

    def fetch(self) -> None:
        """Take from the board all blocks that the machine has written."""
        written = b""
        step = LARGEST * _MAP_BYTES
        for first in range(0, self._size, step):
            length = min(step, self._size - first) // _MAP_BYTES
            written += self._link.ask(Request.READ_WRITTEN, address=first, length=length)
        blocks = np.flatnonzero(np.unpackbits(np.frombuffer(written, np.uint8), bitorder="little"))
        for block in blocks.tolist():
            for first in range(block * BLOCK_BYTES, (block + 1) * BLOCK_BYTES, LARGEST):
                data = self._link.ask(Request.READ_MEMORY, address=first, length=LARGEST)
                self._own[first : first + LARGEST] = self._known[first : first + LARGEST] = np.frombuffer(
                    data, np.uint8
                )
        if blocks.size:
            self._link.ask(Request.CLEAR_WRITTEN)


def _runs(lines: np.ndarray, most: int) -> list[np.ndarray]:
    """The lines in runs that follow each other, each of so many at most."""
    whole = np.split(lines, np.flatnonzero(np.diff(lines) != 1) + 1)
    return [run[first : first + most] for run in whole for first in range(0, len(run), most)]

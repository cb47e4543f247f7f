"""Reads of what another pixel of the same program writes: there is no promise which value they see."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ctm.rtl.isa.limits import WORD_BYTES
from ctm.sim.golden.dpp.batch import Batch, Integers, Mask
from ctm.sim.golden.dpp.hazard import Hazards
from ctm.sim.golden.mc.address import element_address
from ctm.sim.golden.mc.buffer import Buffer

_GRANULE = 2
"""Bytes of the smallest element."""


@dataclass
class _Accesses:
    """Granules that were accessed, the pixels that accessed them, and the PCs."""

    chunks: list[tuple[Integers, Integers, Integers]] = field(default_factory=list)

    def add(self, address: Integers, size: int, owner: Integers, pc: int) -> None:
        granule = (address[:, None] // _GRANULE + np.arange(size // _GRANULE)).ravel()
        owners = np.repeat(owner, size // _GRANULE)
        self.chunks.append((granule, owners, np.full(granule.size, pc)))

    def joined(self) -> tuple[Integers, Integers, Integers]:
        """All accesses: granule, owner, PC."""
        if not self.chunks:
            nothing = np.zeros(0, np.int64)
            return nothing, nothing, nothing
        granule, owner, pc = (np.concatenate(column) for column in zip(*self.chunks, strict=True))
        return granule, owner, pc


class SharingMonitor:
    """Takes note of every element that a program reads and writes, and compares at its end."""

    def __init__(self) -> None:
        self._reads = _Accesses()
        self._writes = _Accesses()

    def read(self, batch: Batch[Any], buffer: Buffer, addresses: list[Integers]) -> None:
        """Active lanes of `batch` read the elements at `addresses`, each [n]."""
        lanes = np.flatnonzero(batch.active & batch.covered & batch.valid_mask)
        for address in addresses:
            owner = _owner(batch.i[lanes], batch.j[lanes])
            self._reads.add(address[lanes], buffer.element.element_bytes, owner, batch.control.pc)

    def write(self, batch: Batch[Any], buffer: Buffer, x: Integers, y: Integers, mask: Mask) -> None:
        """Lanes in `mask` wrote the elements (x, y) [n] of `buffer`."""
        lanes = np.flatnonzero(mask & (x < buffer.width_limit) & (y < buffer.height_limit))
        address = element_address(buffer, x[lanes], y[lanes])
        self._writes.add(
            address, buffer.element.element_bytes, _owner(batch.i[lanes], batch.j[lanes]), batch.control.pc
        )

    def access_words(self, batch: Batch[Any], addresses: Integers, mask: Mask, *, writes: bool) -> None:
        """Lanes accessed the 32-bit words at `addresses` [any, n] where `mask` [any, n] says so."""
        accesses = self._writes if writes else self._reads
        owner = _owner(batch.i, batch.j)
        for address, chosen in zip(addresses, mask, strict=True):
            accesses.add(address[chosen], WORD_BYTES, owner[chosen], batch.control.pc)

    def report(self, hazards: Hazards) -> None:
        """Report reads of elements that another pixel wrote."""
        read, reader, pc = self._reads.joined()
        written, writer, _ = self._writes.joined()
        order = np.lexsort((writer, written))
        written, writer = written[order], writer[order]
        # Writers of a granule are sorted: if the first and the last are the reader, all are.
        first = np.searchsorted(written, read, side="left")
        last = np.searchsorted(written, read, side="right") - 1
        found = last >= first
        read, reader, pc, first, last = (array[found] for array in (read, reader, pc, first, last))
        shared = (writer[first] != reader) | (writer[last] != reader)
        for index in np.unique(pc[shared], return_index=True)[1]:
            at = np.flatnonzero(shared)[index]
            text = f"reads 0x{int(read[at]) * _GRANULE:08x}, which another pixel of the program writes"
            hazards.report(int(pc[at]), text, int(reader[at]) & 0xFFFF, int(reader[at]) >> 16)


def _owner(i: Integers, j: Integers) -> Integers:
    return i | j << 16

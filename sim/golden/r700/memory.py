"""Memory at addresses that the program computes: MEM_EXPORT and RD_SCATTER, MEM_SCRATCH and RD_SCRATCH."""

from typing import NamedTuple

import numpy as np

from ctm.rtl.isa.limits import ADDRESS_SPACE, CHANNELS, WORD_BYTES
from ctm.rtl.isa.r700.exports import UNBOUNDED, ExportOperation
from ctm.rtl.isa.r700.program import MEMORY_OUTPUT, SCRATCH_OUTPUT
from ctm.rtl.isa.status import BusClient
from ctm.sim.golden.dpp.batch import Floats, Integers, Mask
from ctm.sim.golden.dpp.constants import BusError
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.mc.address import extent
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.golden.r700.instruction import Export
from ctm.sim.golden.r700.program import Program
from ctm.sim.golden.r700.state import Batch


class Access(NamedTuple):
    """Dwords of a buffer that pixels access with one register: [4, n], and which of them are in bounds."""

    buffer: Buffer
    dword: Integers
    inside: Mask

    @property
    def address(self) -> Integers:
        """Byte addresses; those of dwords out of bounds are any."""
        found: Integers = (self.buffer.base + WORD_BYTES * np.where(self.inside, self.dword, 0)) % ADDRESS_SPACE
        return found

    def spread(self, pixels: int) -> "Access":
        """The same for each of `pixels`, where all access the same dwords."""
        shape = CHANNELS, pixels
        return Access(self.buffer, np.broadcast_to(self.dword, shape), np.broadcast_to(self.inside, shape))


def pixel_number(launch: Launch[Program], batch: Batch) -> Integers:
    """The number of each pixel in the domain, row by row; those that are not covered may have any."""
    domain = launch.domain
    number: Integers = (batch.j - domain.j0) * (domain.i1 - domain.i0 + 1) + batch.i - domain.i0
    return number


def scatter(launch: Launch[Program], base: int, size: int, element: int, index: Integers) -> Access:
    """What elements `base + index` [n] of the memory area are."""
    buffer = launch.outputs[MEMORY_OUTPUT]
    dword = (base + index) * element + np.arange(CHANNELS)[:, None]
    inside = dword < extent(buffer) // WORD_BYTES
    if size != UNBOUNDED:
        inside &= dword < (base + size + 1) * element
    return Access(buffer, dword, inside)


def scratch(launch: Launch[Program], batch: Batch, base: int, index: Integers) -> Access:
    """What vectors `base + index` [n] of each pixel's own scratch are; pixels that are not covered have none."""
    buffer, domain = launch.outputs[SCRATCH_OUTPUT], launch.domain
    pixels = (domain.i1 - domain.i0 + 1) * (domain.j1 - domain.j0 + 1)
    vector = (base + index) * pixels + pixel_number(launch, batch)
    dword = vector * CHANNELS + np.arange(CHANNELS)[:, None]
    return Access(buffer, dword, (dword < extent(buffer) // WORD_BYTES) & batch.covered)


def write(launch: Launch[Program], export: Export, access: Access, words: Floats, executing: Mask) -> Mask:
    """Store the components of a register [4, n] that the export's mask has; which were stored, [4, n].

    Pixels write in order, each its components in order; the last one counts.
    """
    enabled = launch.output_mask[0] or export.operation is ExportOperation.MEM_SCRATCH
    wanted = access.inside & executing & enabled
    wanted[[channel for channel in range(CHANNELS) if channel not in export.mask]] = False
    # From [4, n] to the order in which words are written.
    chosen, address = wanted.T.ravel(), access.address.T.ravel()
    chosen = launch.memory.keep(BusClient.OUTPUT, address, WORD_BYTES, chosen)
    space = launch.memory.view(np.uint32)
    space[address[chosen] // WORD_BYTES] = words.T.ravel().view(np.uint32)[chosen]
    stored: Mask = chosen.reshape(-1, CHANNELS).T
    return stored


def read(launch: Launch[Program], access: Access, executing: Mask) -> Floats:
    """The dwords of `access` as [4, n], past the caches; 0 where there is none.

    Raises
    ------
    BusError
        A pixel in `executing` got an error response.
    """
    address = access.address
    errors = launch.memory.errors(address, WORD_BYTES)
    if errors is not None:
        failed = errors & access.inside & executing
        lanes: Mask = np.any(failed, axis=0)
        if lanes.any():
            raise BusError(BusClient.INPUT, int(address[:, lanes.argmax()][failed[:, lanes.argmax()]][0]), lanes)
    words = launch.memory.view(np.uint32)[address // WORD_BYTES]
    result: Floats = np.where(access.inside, words, np.uint32(0)).view(np.float32)
    return result


def index_of(words: Floats | None, component: int) -> Integers:
    """The index of each pixel, unsigned: a component of a register's `words`, or 0 without one."""
    if words is None:
        return np.zeros(1, np.int64)
    found: Integers = words[component].view(np.uint32).astype(np.int64)
    return found

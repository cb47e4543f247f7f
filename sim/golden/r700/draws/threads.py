"""The runs of a draw's programs before the raster: what threads begin with, read and leave.

A thread is a vertex, a primitive, or a vertex that was emitted. Source: docs/draws.md.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.limits import CHANNELS, WORD_BYTES
from ctm.rtl.isa.r700.control_flow import CfOperation
from ctm.rtl.isa.r700.exports import STREAM_WRITES, ExportOperation
from ctm.rtl.isa.status import BusClient
from ctm.sim.golden.dpp.batch import Batch as AnyBatch
from ctm.sim.golden.dpp.batch import Floats, Integers, Mask
from ctm.sim.golden.dpp.constants import BusError
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.draw.state import VertexBuffer
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.golden.r700 import memory
from ctm.sim.golden.r700.draws.formats import components, gathered
from ctm.sim.golden.r700.instruction import BufferFetch, Export
from ctm.sim.golden.r700.program import Program
from ctm.sim.golden.r700.state import Batch

Words = npt.NDArray[np.uint32]


class Emits:
    """What geometry programs emit: the vertices of each thread, and where their strips end."""

    def __init__(self, threads: int, most: int) -> None:
        self._most = most
        self.count: Integers = np.zeros(threads, np.int64)
        self.cut: Mask = np.zeros((threads, most + 1), bool)
        """Whether a strip ends in front of vertex n, [threads, n]."""

    def execute(self, operation: CfOperation, threads: Integers) -> None:
        """EMIT_VERTEX, CUT_VERTEX or both, for some threads. Vertices beyond the most that may be emitted are lost."""
        if operation is not CfOperation.CUT_VERTEX:
            self.count[threads] = np.minimum(self.count[threads] + 1, self._most)
        if operation is not CfOperation.EMIT_VERTEX:
            self.cut[threads, self.count[threads]] = True


@dataclass(frozen=True, kw_only=True)
class ThreadLaunch(Launch[Program]):
    """The run of one program for `threads` threads. A pixel's i is the thread's number.

    Where a program has no ring to write or read, or emits nothing, that is None or empty.
    """

    threads: int
    registers: Mapping[tuple[int, int], npt.NDArray[np.integer]]
    """What channels of registers hold at the start, by number and channel, [threads]; others hold 0."""
    results: Floats
    """What was exported, [outputs, threads, 4]."""
    buffers: tuple[VertexBuffer, ...]
    first_instance: int
    written: Words
    """The ring that is written: each thread's own item, [threads, dwords]."""
    ring: Words | None = None
    """The ring that is read, flat."""
    ring_starts: Integers | None = None
    """The dword of `ring` that is dword 0 for each thread, [threads]."""
    streams: tuple[tuple[Words, Mask], ...] = ()
    """What each stream gets of each thread, and which words were written, [threads, stride]."""
    emits: Emits | None = None

    def set_registers(self, batch: Batch) -> None:
        """Give threads what they begin with."""
        exists = batch.covered
        batch.temporaries[0] = 0
        for (register, channel), values in self.registers.items():
            words = np.zeros(batch.size, np.uint32)
            words[exists] = values[batch.i[exists]].astype(np.int64).astype(np.uint32)
            batch.temporaries[register, channel] = words.view(np.float32)
            batch.clean[CHANNELS * register + channel] = False

    def finish(self, batch: AnyBatch[Any]) -> Iterator[tuple[Buffer, Mask]]:
        """Keep what threads that ended exported."""
        threads = np.flatnonzero(batch.covered)
        for register in range(len(self.program.outputs)):
            self.results[register, batch.i[threads]] = batch.outputs[register][:, threads].T
        yield from ()


def write(
    launch: ThreadLaunch, batch: Batch, export: Export, burst_index: int, indices: Floats | None, words: Floats
) -> tuple[Integers, Mask]:
    """Execute MEM_RING or MEM_STREAM for register `burst_index` of a burst, whose `words` are [4, n].

    A dword beyond the thread's own item is lost. Gives the bytes of the ring at which words were to be stored, and
    which were; [words, n], none of a stream.
    """
    none = np.zeros((0, batch.size), np.int64), np.zeros((0, batch.size), bool)
    index = memory.index_of(indices, 0) if indices is not None else np.zeros(1, np.int64)
    first = np.broadcast_to(export.base + burst_index * export.element + index * export.element, batch.size)
    executing = np.flatnonzero(batch.active & batch.valid_mask & batch.covered)
    if export.operation is ExportOperation.MEM_RING:
        target, written = launch.written, None
    else:
        stream = STREAM_WRITES.index(export.operation)
        if stream >= len(launch.streams):
            return none
        target, written = launch.streams[stream]
    for channel in export.mask:
        dword = first[executing] + channel
        stored = executing[dword < target.shape[1]]
        at = batch.i[stored], first[stored] + channel
        target[at] = words[channel, stored].view(np.uint32)
        if written is not None:
            written[at] = True
    if written is not None:
        return none
    dwords = first + np.array(export.mask, np.int64)[:, None]
    may = batch.active & batch.valid_mask & batch.covered
    return WORD_BYTES * (batch.i * target.shape[1] + dwords), may & (dwords < target.shape[1])


def fetch(
    launch: ThreadLaunch, batch: Batch, instruction: BufferFetch, source: Floats, executing: Mask
) -> tuple[Floats, Integers, Mask]:
    """The components of a fetch, [4, n]; an element that is not in the buffer as a whole is 0.

    After them come the addresses of the 32-bit words that it reads, of memory or in the ring, and which lanes do; both
    are [words, n].

    Raises
    ------
    BusError
        A thread in `executing` got an error response.
    """
    index = source[instruction.component].view(np.uint32).astype(np.int64)
    size = instruction.element.element_bytes
    if instruction.buffer is None:
        assert launch.ring is not None and launch.ring_starts is not None
        space: npt.NDArray[np.uint8] = launch.ring.view(np.uint8)
        start = launch.ring_starts[np.where(batch.covered, batch.i, 0)]
        byte = WORD_BYTES * (start + index) + instruction.offset
        inside = byte + size <= space.size
        address = np.where(inside, byte & -instruction.element.channel_bytes, 0)
        found = components(instruction.element, gathered(space, address, size), inside)
        return found, *_words_of(address, size, inside & executing)
    buffer = launch.buffers[instruction.buffer]
    if instruction.by_instance:
        index = index + launch.first_instance
    byte = index * buffer.stride + instruction.offset
    inside = byte + size <= buffer.size
    aligned = byte & -instruction.element.channel_bytes
    address = (buffer.address + np.where(inside, aligned, 0)) % launch.memory.bytes.size
    errors = launch.memory.errors(address, size)
    if errors is not None and (errors & inside & executing).any():
        failed = errors & inside & executing
        raise BusError(BusClient.INPUT, int(address[failed.argmax()]), failed)
    found = components(instruction.element, gathered(launch.memory.bytes, address, size), inside)
    return found, *_words_of(address, size, inside & executing)


def _words_of(address: Integers, size: int, reading: Mask) -> tuple[Integers, Mask]:
    """The 32-bit words in which elements at addresses [n] lie, and which lanes read each; both [words, n]."""
    # The word in which an element begins has its first byte, and the last one its last byte.
    count = (address + size - 1) // WORD_BYTES - address // WORD_BYTES + 1
    number = np.arange(int(count.max(initial=0)))[:, None]
    return (address // WORD_BYTES + number) * WORD_BYTES, reading & (number < count)

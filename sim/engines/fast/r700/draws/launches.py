"""The launch of a draw's program in front of the raster as compiled code reads and writes it."""

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.limits import ADDRESS_SPACE, CHANNELS
from ctm.rtl.isa.r700.pipeline import DrawStage
from ctm.sim.engines.fast.parameters import Table
from ctm.sim.engines.fast.program import FallBackError
from ctm.sim.engines.fast.r700.draws.threads import Threaded, ThreadSlot
from ctm.sim.golden.r700.draws.threads import ThreadLaunch

Words = npt.NDArray[np.uint32]
_LARGEST_ELEMENT = CHANNELS
"""Dwords that are there even of an empty ring: code reads one element of it and drops it."""


class GivenThreads:
    """Arrays that the table `table` points at, for whole vectors of `lanes` threads.

    Raises
    ------
    FallBackError
        The golden model runs the launch, because a vertex buffer wraps at the end of memory.
    """

    def __init__(self, launch: ThreadLaunch, stage: DrawStage, lanes: int) -> None:
        self._launch, self._lanes = launch, lanes
        self.vectors = -(-launch.threads // lanes)
        self.threaded = Threaded(
            stage=stage,
            registers=tuple(launch.registers),
            outputs=launch.program.outputs,
            item=launch.written.shape[1],
            strides=tuple(words.shape[1] for words, _ in launch.streams),
            most_emitted=None if launch.emits is None else launch.emits.cut.shape[1] - 1,
        )
        self._results = np.zeros((self.vectors, len(self.threaded.outputs), CHANNELS, lanes), np.float32)
        self._counts = np.zeros(self.vectors * lanes, np.int32)
        self._starts = self._begin()
        self._ring = np.zeros(_LARGEST_ELEMENT, np.uint32) if launch.ring is None else launch.ring
        self._ring_bytes = 0 if launch.ring is None else launch.ring.nbytes
        if self._ring.size < _LARGEST_ELEMENT:
            self._ring = np.concatenate([self._ring, np.zeros(_LARGEST_ELEMENT, np.uint32)])
        self._buffers = np.array([(each.address, each.size, each.stride) for each in launch.buffers], np.uint64)
        if any(each.address + each.size > ADDRESS_SPACE for each in launch.buffers):
            raise FallBackError("a vertex buffer goes on at the beginning of memory")
        pairs = [(words.ctypes.data, written.ctypes.data) for words, written in launch.streams]
        self._streams = np.array(pairs, np.uint64)
        self.table = self._table()

    def take(self, returned: npt.NDArray[np.signedinteger]) -> None:
        """Give the launch all results. Threads of the vectors `returned` have emitted nothing: they run again."""
        launch, lanes = self._launch, self._lanes
        ordered = self._results.transpose(1, 0, 3, 2).reshape(
            len(self.threaded.outputs), self.vectors * lanes, CHANNELS
        )
        launch.results[:] = ordered[:, : launch.threads]
        if launch.emits is not None:
            self._counts.reshape(self.vectors, lanes)[returned] = 0
            launch.emits.count[:] = self._counts[: launch.threads]

    def _begin(self) -> Words:
        """What registers hold at the start, [vectors, registers, lanes]; 0 where there is no thread."""
        starts = np.zeros((len(self._launch.registers), self.vectors * self._lanes), np.uint32)
        for row, values in enumerate(self._launch.registers.values()):
            starts[row, : values.size] = values.astype(np.int64).astype(np.uint32)
        shape = len(starts), self.vectors, self._lanes
        return np.ascontiguousarray(starts.reshape(shape).transpose(1, 0, 2))

    def _table(self) -> Table:
        launch = self._launch
        table = np.zeros(len(ThreadSlot), np.uint64)
        for slot, array in (
            (ThreadSlot.STARTS, self._starts), (ThreadSlot.RESULTS, self._results), (ThreadSlot.RING, self._ring),
            (ThreadSlot.WRITTEN, launch.written), (ThreadSlot.COUNTS, self._counts),
            (ThreadSlot.MEMORY, launch.memory.bytes), (ThreadSlot.BUFFERS, self._buffers),
            (ThreadSlot.STREAMS, self._streams),
        ):  # fmt: skip
            table[slot] = array.ctypes.data
        if launch.emits is not None:
            table[ThreadSlot.CUTS] = launch.emits.cut.ctypes.data
        table[ThreadSlot.RING_BYTES] = self._ring_bytes
        table[ThreadSlot.FIRST_INSTANCE] = launch.first_instance
        return table

"""What wavefronts will write, kept, so that it can be as if they had not run."""

import itertools
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.formats import LINEAR_ROW_ALIGNMENT
from ctm.rtl.isa.limits import ADDRESS_SPACE
from ctm.sim.golden.dpp.inputs import overlap, ranges
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.mc.address import element_address
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.golden.r700.draws.pixels import PixelLaunch
from ctm.sim.golden.r700.draws.threads import ThreadLaunch
from ctm.sim.memory import Memory

Integers = npt.NDArray[np.signedinteger]


Saved = tuple[npt.NDArray[Any], Any, npt.NDArray[Any]]
"""An array, an index, and what was there."""


@dataclass(frozen=True)
class Kept:
    """Sections of arrays, memory's bytes among them, as they were, and how many items lists had."""

    saved: tuple[Saved, ...]
    lists: tuple[tuple[list[Any], int], ...] = ()

    @property
    def size(self) -> int:
        """How many bytes are kept."""
        return sum(found.nbytes for *_, found in self.saved)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is kept."""
        return not self.saved and not self.lists

    def restore(self) -> None:
        """Write them back, and drop what was appended since."""
        for array, index, found in self.saved:
            array[index] = found
        for items, count in self.lists:
            del items[count:]

    @classmethod
    def of_areas(cls, launch: Launch[Any], i: Integers) -> Self:
        """What wavefronts of lanes with these i write while they run.

        That is all of the outputs past the caches, at addresses of their own, and what threads of a draw leave.
        """
        saved = _of_buffers(launch.memory, [launch.outputs[number] for number in launch.program.uncached_outputs])
        return cls((*saved, *_of_threads(launch, i)))

    @classmethod
    def of_outputs(cls, launch: Launch[Any]) -> Self:
        """All that a launch may write."""
        if isinstance(launch, ThreadLaunch):
            return cls.of_areas(launch, np.arange(launch.threads))
        program, unit = launch.program, launch.conditional
        uncached = [launch.outputs[number] for number in program.uncached_outputs]
        tested = [unit.buffer] if unit.may_write_buffer else []
        if isinstance(launch, PixelLaunch):
            return cls(_of_buffers(launch.memory, uncached + tested), _appended(launch))
        outputs = [launch.outputs[number] for number in program.outputs]
        return cls(_of_buffers(launch.memory, outputs + uncached + tested))


def _of_buffers(memory: Memory, buffers: list[Buffer]) -> tuple[Saved, ...]:
    ranges_ = [slice(first, end) for buffer in buffers for first, end in ranges(buffer)]
    return tuple((memory.bytes, range_, memory.bytes[range_].copy()) for range_ in ranges_)


def _of_threads(launch: Launch[Any], i: Integers) -> tuple[Saved, ...]:
    """What threads of a draw's program leave: results, items of rings and streams, emitted vertices."""
    if not isinstance(launch, ThreadLaunch):
        return ()
    threads = np.unique(i[i < launch.threads])
    arrays: list[npt.NDArray[Any]] = [launch.written, *(array for stream in launch.streams for array in stream)]
    if launch.emits is not None:
        arrays += [launch.emits.count, launch.emits.cut]
    by_thread = tuple((array, threads, array[threads]) for array in arrays)
    return (*by_thread, (launch.results, (slice(None), threads), launch.results[:, threads]))


def _appended(launch: PixelLaunch) -> tuple[tuple[list[Any], int], ...]:
    """What strips leave until all have run, and the draw stores it."""
    return ((launch.ended, len(launch.ended)),)


def keep(launch: Launch[Any], i: Integers, j: Integers) -> Kept:
    """What the wavefronts of pixels (i, j) may leave: their own elements, and areas as a whole."""
    areas = Kept.of_areas(launch, i)
    if isinstance(launch, PixelLaunch):
        return Kept(areas.saved, _appended(launch))
    if isinstance(launch, ThreadLaunch):
        return areas
    buffers = _written_at_ends(launch)
    return Kept((*(_elements(launch.memory, buffer, i, j) for buffer in buffers), *areas.saved))


def is_apart(launch: Launch[Any]) -> bool:
    """Whether pixels write no memory but elements of their own, which no other one reads."""
    program = launch.program
    if isinstance(launch, PixelLaunch | ThreadLaunch) or program.uncached_outputs or program.uncached_inputs:
        return False
    buffers = _written_at_ends(launch)
    pairs = itertools.combinations(buffers, 2)
    return all(map(_has_rows_apart, buffers)) and not any(itertools.starmap(overlap, pairs))


def _written_at_ends(launch: Launch[Any]) -> list[Buffer]:
    """The buffers that a program writes when it ends."""
    unit = launch.conditional
    buffers = [launch.outputs[number] for number in launch.program.outputs]
    return buffers + ([unit.buffer] if unit.may_write_buffer else [])


def _has_rows_apart(buffer: Buffer) -> bool:
    """Whether no rows share elements: the stride of linear buffers is rounded down."""
    return buffer.is_tiled or buffer.pitch * buffer.element.element_bytes % LINEAR_ROW_ALIGNMENT == 0


def _elements(memory: Memory, buffer: Buffer, i: Integers, j: Integers) -> Saved:
    inside = (i >= 0) & (j >= 0) & (i < buffer.width_limit) & (j < buffer.height_limit)
    first = element_address(buffer, i[inside].astype(np.int64), j[inside].astype(np.int64)).astype(np.int64)
    bytes_ = (first[:, None] + np.arange(buffer.element.element_bytes)).ravel() % ADDRESS_SPACE
    return memory.bytes, bytes_, memory.bytes[bytes_]

"""What wavefronts will write to memory, kept, so that it can be as if they had not run."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.limits import ADDRESS_SPACE
from ctm.sim.golden.dpp.inputs import ranges
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.mc.address import element_address
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.memory import Memory

Integers = npt.NDArray[np.signedinteger]
Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Kept:
    """Bytes of memory at addresses, as they were."""

    memory: Memory
    parts: tuple[tuple[slice | Integers, Bytes], ...]

    @property
    def size(self) -> int:
        """How many bytes are kept."""
        return sum(found.nbytes for _, found in self.parts)

    def restore(self) -> None:
        """Write them back."""
        for addresses, found in self.parts:
            self.memory.bytes[addresses] = found

    @classmethod
    def of_areas(cls, launch: Launch[Any]) -> Self:
        """All of the outputs that a program writes past the caches, at places of its own."""
        return cls._of_buffers(launch.memory, [launch.outputs[number] for number in launch.program.uncached_outputs])

    @classmethod
    def of_outputs(cls, launch: Launch[Any]) -> Self:
        """All that a launch may write."""
        program, unit = launch.program, launch.conditional
        buffers = [launch.outputs[number] for number in {*program.outputs, *program.uncached_outputs}]
        return cls._of_buffers(launch.memory, buffers + ([unit.buffer] if unit.may_write_buffer else []))

    @classmethod
    def _of_buffers(cls, memory: Memory, buffers: list[Buffer]) -> Self:
        places = [slice(first, end) for buffer in buffers for first, end in ranges(buffer)]
        return cls(memory, tuple((place, memory.bytes[place].copy()) for place in places))


def keep(launch: Launch[Any], i: Integers, j: Integers) -> Kept:
    """What the wavefronts of processors (i, j) may write to memory: their own elements, and areas as a whole."""
    unit = launch.conditional
    buffers = [launch.outputs[number] for number in launch.program.outputs]
    buffers += [unit.buffer] if unit.may_write_buffer else []
    own = tuple(_elements(launch.memory, buffer, i, j) for buffer in buffers)
    return Kept(launch.memory, (*own, *Kept.of_areas(launch).parts))


def _elements(memory: Memory, buffer: Buffer, i: Integers, j: Integers) -> tuple[Integers, Bytes]:
    inside = (i >= 0) & (j >= 0) & (i < buffer.width_limit) & (j < buffer.height_limit)
    first = element_address(buffer, i[inside].astype(np.int64), j[inside].astype(np.int64)).astype(np.int64)
    places = (first[:, None] + np.arange(buffer.element.element_bytes)).ravel() % ADDRESS_SPACE
    return places, memory.bytes[places]

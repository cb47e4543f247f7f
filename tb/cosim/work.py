"""Work for a machine: what memory holds at the start, and command buffers in it."""

from dataclasses import dataclass, field

import numpy.typing as npt

from ctm.sim.memory import Memory
from ctm.sim.runtime import CommandBuffer, Image, Layout
from ctm.sim.runtime.heap import LOCAL, Heap


@dataclass(frozen=True, kw_only=True, eq=False)
class Work:
    """Memory and command buffers. All that programs write lies inside `contents`, but for the counters."""

    contents: tuple[tuple[int, bytes], ...]
    """What memory holds at the start, command buffers included, by address."""
    buffers: tuple[tuple[int, int], ...]
    """Address and words of each command buffer, in order."""
    skipped: tuple[tuple[int, int], ...] = ()
    """Address and size of what depends on the clock."""

    def load(self, memory: Memory) -> None:
        """Write the contents to a memory."""
        for address, data in self.contents:
            memory.write(address, data)


@dataclass
class Desk:
    """Where work is put together."""

    memory: Memory = field(default_factory=Memory)
    heap: Heap = field(default_factory=Heap)
    _ranges: list[tuple[int, int]] = field(default_factory=list)
    _buffers: list[tuple[int, int]] = field(default_factory=list)

    def place(self, data: bytes, region: str = LOCAL) -> int:
        """The address of a copy of `data`."""
        address = self.heap.allocate(len(data), region)
        self.put(address, data)
        return address

    def put(self, address: int, data: bytes) -> None:
        """Write `data` at an address that is free."""
        self.memory.write(address, data)
        self._ranges.append((address, len(data)))

    def image(self, layout: Layout, values: npt.ArrayLike, region: str = LOCAL) -> Image:
        """A new image that holds `values`."""
        image = Image(memory=self.memory, base=self.heap.allocate(layout.size, region), layout=layout)
        image.write(values)
        self._ranges.append((image.base, layout.size))
        return image

    def submit(self, commands: CommandBuffer, region: str = LOCAL) -> None:
        """Append a command buffer."""
        self._buffers.append((self.place(bytes(commands), region), len(commands.words)))

    def work(self) -> Work:
        """What was put together."""
        contents = tuple((address, self.memory.read(address, size)) for address, size in self._ranges)
        return Work(contents=contents, buffers=tuple(self._buffers))

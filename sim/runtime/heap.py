"""Allocation of the machine's memory in blocks aligned as base addresses must be."""

from numbers import Integral
from typing import Self

from ctm.rtl.isa.limits import ADDRESS_SPACE, BASE_ALIGNMENT, SYSTEM_MEMORY
from ctm.sim.runtime.types import check_type

LOCAL, SYSTEM = "local", "system"
REGIONS = {LOCAL: (0, SYSTEM_MEMORY), SYSTEM: (SYSTEM_MEMORY, ADDRESS_SPACE)}


class Heap:
    """Hands out memory from the bottom of each region; nothing is ever taken back.

    The first page of local memory is never allocated, so that address 0 is invalid. From `size` on there is no memory.
    """

    def __init__(self, size: int = ADDRESS_SPACE) -> None:
        self._size = size
        self._next = {region: first for region, (first, _) in REGIONS.items()}
        self._next[LOCAL] = BASE_ALIGNMENT

    def copy(self) -> Self:
        """Another one that hands out what this one would."""
        result = type(self)(self._size)
        result._next = dict(self._next)
        return result

    def used(self, region: str) -> tuple[int, int]:
        """Where the memory of a region begins that was handed out, or is left free, and where it ends."""
        return REGIONS[region][0], self._next[region]

    def allocate(self, size: int, region: str = LOCAL) -> int:
        """The address of `size` free bytes, a multiple of 2 KiB.

        Raises
        ------
        TypeError, ValueError
            The size is no whole number, or is negative; there is no such region.
        MemoryError
            It has not that much left.
        """
        if region not in REGIONS:
            raise ValueError(f"memory must be one of {', '.join(REGIONS)}, not '{region}'")
        check_type("size", size, Integral)
        if size < 0:
            raise ValueError(f"size must be 0 bytes or more, not {size}")
        size, address = int(size), self._next[region]
        end = address + -(-size // BASE_ALIGNMENT) * BASE_ALIGNMENT
        if end > min(REGIONS[region][1], self._size):
            small = "" if self._size == ADDRESS_SPACE else f": the machine has {self._size >> 10:,} KiB in all"
            raise MemoryError(f"{size} bytes do not fit what is left of {region} memory{small}")
        self._next[region] = end
        return address

"""The machine's memory: 4 GiB of bytes that read 0 where nothing was written."""

import mmap

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.limits import ADDRESS_SPACE
from ctm.rtl.isa.status import BusClient

Words = npt.NDArray[np.uint32]

_MAP_NORESERVE = 0x4000
"""Linux's flag, which Python's module names from version 3.13 on only."""


class Memory:
    """A sparse 4 GiB address space; host memory is used only for pages that were written.

    `bytes` is the whole space as a flat uint8 array; `view` gives it as elements of another size. Both read and write
    the memory itself, so an engine gathers and scatters with ordinary indexing. Of a machine that has less memory only
    the first `size` bytes are to be used.
    """

    def __init__(self, size: int = ADDRESS_SPACE) -> None:
        self.size = size
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE
        try:
            mapping = mmap.mmap(-1, ADDRESS_SPACE, flags=flags)
        except OSError as error:
            raise MemoryError(
                "the machine's memory needs 4 GiB of address space (not of memory): check 'ulimit -v' and "
                "/proc/sys/vm/overcommit_memory"
            ) from error
        self.bytes: npt.NDArray[np.uint8] = np.frombuffer(mapping, dtype=np.uint8)
        self.error_ranges: list[tuple[int, int]] = []
        """Ranges [first, end) of which accesses get error responses; see `respond_with_errors`."""
        self.lost: tuple[BusClient, int] | None = None
        """Client and address of the first access that failed and has not been reported: its data was dropped."""

    def view(self, element: npt.DTypeLike) -> npt.NDArray[np.generic]:
        """The whole space as elements of type `element`, whose size divides 4 GiB."""
        return self.bytes.view(element)

    def respond_with_errors(self, first: int, end: int) -> None:
        """Make the machine's accesses to [first, end) fail, as on a bus that gives an error response.

        Only the machine's: `read`, `write` and the views still reach these bytes.
        """
        self.error_ranges.append((first, end))

    def has_error(self, address: int, size: int) -> bool:
        """Whether an access of the machine to `size` bytes at `address` fails; addresses wrap."""
        first, end = address % ADDRESS_SPACE, address % ADDRESS_SPACE + size
        ranges = [(first, end), (0, end - ADDRESS_SPACE)]
        return any(low < last and begin < high for low, high in ranges for begin, last in self.error_ranges)

    def errors(self, addresses: npt.NDArray[np.signedinteger], size: int) -> npt.NDArray[np.bool_] | None:
        """Which accesses to elements of `size` bytes fail, None where none can."""
        if not self.error_ranges:
            return None
        result = np.zeros(addresses.shape, bool)
        for begin, end in self.error_ranges:
            result |= (addresses < end) & (addresses + size > begin)
        return result

    def keep(
        self, client: BusClient, addresses: npt.NDArray[np.signedinteger], size: int, wanted: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.bool_]:
        """The accesses of `wanted` that succeed; the first that fails is noted in `lost`."""
        errors = self.errors(addresses, size)
        if errors is None:
            return wanted
        failed = np.flatnonzero(wanted & errors)
        if failed.size and self.lost is None:
            self.lost = client, int(addresses[failed[0]])
        return wanted & ~errors

    def read(self, address: int, size: int) -> bytes:
        """`size` bytes from `address` on; the space must hold them.

        Raises
        ------
        ValueError
            The range leaves the address space.
        """
        self.check(address, size)
        return self.bytes[address : address + size].tobytes()

    def write(self, address: int, data: bytes | bytearray | memoryview) -> None:
        """Write `data` from `address` on; errors as `read`."""
        self.check(address, len(data))
        self.bytes[address : address + len(data)] = np.frombuffer(data, dtype=np.uint8)

    def word(self, address: int) -> int:
        """The 32-bit word at `address`, a multiple of four; addresses wrap."""
        return int.from_bytes(self.bytes[address % ADDRESS_SPACE :][:4].tobytes(), "little")

    def words(self, address: int, count: int) -> Words:
        """`count` 32-bit words from `address` (a multiple of four) on, copied; addresses wrap."""
        first = address % ADDRESS_SPACE // 4
        space = self.bytes.view(np.uint32)
        if first + count <= space.size:
            return space[first : first + count].copy()
        return np.concatenate([space[first:], space[: first + count - space.size]])

    def check(self, address: int, size: int) -> None:
        """Check that a range is inside the memory; error as of `read`."""
        if address < 0 or address + size > self.size:
            space = "4 GiB address space" if self.size == ADDRESS_SPACE else f"{self.size >> 10:,} KiB of memory"
            raise ValueError(f"{size} bytes at 0x{address:x} leave the {space}")

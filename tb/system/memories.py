"""Two memories compared over all that anybody has ever touched."""

import ctypes
import mmap

import numpy as np

from ctm.sim.memory import Memory

_LIBC = ctypes.CDLL(None, use_errno=True)


def touched_pages(memory: Memory) -> np.ndarray:
    """Numbers of the pages that were read or written; all others are 0."""
    pages = np.zeros(memory.bytes.size // mmap.PAGESIZE, np.uint8)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (memory.bytes, pages)]
    if _LIBC.mincore(pointers[0], ctypes.c_size_t(memory.bytes.size), pointers[1]):
        raise OSError(ctypes.get_errno(), "mincore")
    return np.flatnonzero(pages & 1)


def first_difference(found: Memory, expected: Memory, *, ignored: set[int]) -> int | None:
    """The lowest address at which they differ, but for the addresses `ignored`."""
    pages = np.union1d(touched_pages(found), touched_pages(expected))
    contents = [memory.bytes.reshape(-1, mmap.PAGESIZE)[pages] for memory in (found, expected)]
    for page, offset in np.argwhere(contents[0] != contents[1]):
        address = int(pages[page]) * mmap.PAGESIZE + int(offset)
        if address not in ignored:
            return address
    return None


def copy(source: Memory, target: Memory) -> None:
    """Make `target` hold what `source` holds."""
    pages = np.union1d(touched_pages(source), touched_pages(target))
    views = [memory.bytes.reshape(-1, mmap.PAGESIZE) for memory in (source, target)]
    views[1][pages] = views[0][pages]

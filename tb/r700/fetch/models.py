"""What fetches and exports do, a pixel or an element at a time, as the tables of chapters 5 and 3.4 have it.

Written from these, apart from the golden model.
"""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

CHANNELS, QUAD, BANKS, ROW, WAVES = 4, 4, 4, 4, 16
ONE, NAN = 0x3F800000, 0x7FFFFFFF
NOT_WRITTEN = 7
CONSTANT_WORDS = 1024
UNBOUNDED, ROW_WORDS = 4095, 8
"""ARRAY_SIZE without a bound; rows begin at multiples of 32 bytes."""


def texel_index(word: int, offset: int, limit: int, *, integer: bool) -> int:
    """floor(coordinate + offset / 2) in exact numbers, inside [0, limit - 1]; denormals are 0."""
    if integer:
        exact = Fraction(word - (1 << 32) * (word >> 31))
    else:
        value = float(np.uint32(word).view(np.float32))
        if math.isnan(value):
            value = 0.0
        if math.isinf(value):
            return limit - 1 if value > 0 else 0
        exact = Fraction(0 if word & 0x7F800000 == 0 else value)
    return min(max(math.floor(exact + Fraction(offset, 2)), 0), limit - 1)


def _flushed(words: np.ndarray) -> np.ndarray:
    """Denormals are zeros of their sign, and there is one NaN."""
    words = np.where(words & 0x7F800000 == 0, words & 0x80000000, words)
    is_nan = (words & 0x7F800000 == 0x7F800000) & (words & 0x7FFFFF != 0)
    return np.where(is_nan, NAN, words).astype(np.uint32)


def product(words: np.ndarray, size: int) -> np.ndarray:
    """Rounded once."""
    with np.errstate(all="ignore"):
        return _flushed((_flushed(words).view(np.float32) * np.float32(size)).view(np.uint32))


def difference(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Rounded once."""
    with np.errstate(all="ignore"):
        return _flushed((_flushed(first).view(np.float32) - _flushed(second).view(np.float32)).view(np.uint32))


def chosen(source: np.ndarray, select: int) -> np.ndarray:
    """A component of [4][n] by SRC_SEL."""
    return source[select] if select < CHANNELS else np.full(source.shape[1], ONE * (select == 5), np.uint32)


def gradients(source: np.ndarray, coordinates: list[int], *, vertical: bool) -> np.ndarray:
    """Lane 3 less lane 2 of each quad, or lane 2 less lane 0, in all its pixels."""
    upper, lower = (2, 0) if vertical else (3, 2)
    components = np.stack([chosen(source, select) for select in coordinates])
    found = difference(components[:, upper::QUAD].copy(), components[:, lower::QUAD].copy())
    return np.repeat(found, QUAD, axis=1)


def element(bank: np.ndarray, first: int, channels: int, one: int) -> list[int]:
    """Words of the constants from one on, zeros if they are not all there; what is missing of four is 0, 0, 0, one."""
    exists = first + channels <= CONSTANT_WORDS
    words = [int(word) for word in bank[first : first + channels]] if exists else [0] * channels
    return [*words, *[0, 0, 0, one][channels:]]


@dataclass(frozen=True, kw_only=True)
class Area:
    """An output as the program has it: rows are `stride` times eight words apart."""

    width: int
    height: int
    stride: int

    @property
    def words(self) -> int:
        """Up to the last one of the last row."""
        return (self.height - 1) * self.stride * ROW_WORDS + self.width if self.width else 0


@dataclass(frozen=True, kw_only=True)
class AreaAccess:
    """MEM_EXPORT or RD_SCATTER, or with `scratch` MEM_SCRATCH or RD_SCRATCH; elements have `dwords`."""

    scratch: bool
    indexed: bool
    base: int
    size: int
    dwords: int
    burst: int

    def first(self, index: int, domain: tuple[int, int], number: int) -> int:
        """The dword of component 0, in full width, of the pixel with this number in the domain."""
        element = self.base + self.burst + (index if self.indexed else 0)
        if self.scratch:
            return (element * domain[0] * domain[1] + number) * CHANNELS
        return element * self.dwords

    def bound(self, area: Area) -> int:
        """The first word that does not exist."""
        if self.scratch or self.size == UNBOUNDED:
            return area.words
        return min(area.words, (self.base + self.size + 1) * self.dwords)


@dataclass(kw_only=True)
class ShareAccess:
    """LOCAL_DS_WRITE or LOCAL_DS_READ of one wavefront. `source` is [burst][4][n], of a read [1][4][n]."""

    wave: int
    writes: bool
    burst: int
    source: np.ndarray
    executing: np.ndarray
    active: np.ndarray
    fields: dict[str, Any] = field(default_factory=dict)


class Share:
    """The share as dwords of each wave slot, [wave slot][bank][dword], changed pixel by pixel."""

    def __init__(self, rows: int) -> None:
        self.dwords = ROW * rows
        self.contents = np.zeros((WAVES, BANKS, self.dwords), np.uint32)

    def write(self, access: ShareAccess) -> None:
        """Registers outermost, then pixels, then components."""
        for k in range(access.burst):
            for pixel in np.flatnonzero(access.executing):
                first = (pixel >> 2) * access.fields["stride"] + access.fields["index"] + ROW * k
                for component, select in enumerate(access.fields["selects"]):
                    if select != NOT_WRITTEN and first + component < self.dwords:
                        word = access.source[k][select][pixel] if select < CHANNELS else ONE * (select == 5)
                        self.contents[access.wave][pixel & 3][first + component] = word

    def read(self, access: ShareAccess) -> np.ndarray:
        """What each pixel finds, as [burst][pixel][4]."""
        source, size = access.source[0], len(access.executing)
        found = np.zeros((access.burst, size, ROW), np.uint32)
        for k in range(access.burst):
            for pixel in range(size):
                of = int(np.flatnonzero(access.active)[0]) if access.fields["broadcasts"] else pixel
                bank, dword = (int(source[select][of]) for select in access.fields["coordinates"][:2])
                dword = (dword + access.fields["offset"]) % (1 << 32)
                first = dword // ROW * ROW
                wanted = [dword] * ROW if access.fields["selects_word"] else range(first, first + ROW)
                for component, each in enumerate(wanted):
                    if each + ROW * k < self.dwords:
                        found[k][pixel][component] = self.contents[access.wave][bank & 3][each + ROW * k]
        return found

"""Random fetch clauses and exports, and what each does to registers, outputs, areas and the data share.

Every instruction is drawn as its words together with a function that does the same to a `Wave`, written from the tables
of chapters 5 and 3.4 and apart from the golden model.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ctm.rtl.isa.limits import COORDINATE_LIMIT
from ctm.tb.r700 import words
from ctm.tb.r700.fetch.models import (
    Area,
    AreaAccess,
    Share,
    ShareAccess,
    chosen,
    element,
    gradients,
    product,
    texel_index,
)

GPRS, CHANNELS, OUTPUTS = 8, 4, 4
TEXTURES, ABSENT = 2, 1
"""Input n is resource n + 2; input 1 is not there."""
INPUTS = [(30, 20), (0, 0), (64, 9), (4352, 5000)]
"""Pitch and height."""
LIMITS = [tuple(min(size, COORDINATE_LIMIT) for size in sizes) for sizes in INPUTS]
"""Columns and rows that exist."""
AREAS = Area(width=1000, height=3, stride=125), Area(width=4096, height=2, stride=512)
DOMAIN = 24, 10
SHARE_ROWS, MASK, ONE = 8, 7, 0x3F800000
RESULT = np.uint32
OWN_DWORDS = 240
"""Of area 0 for each wave slot."""
Effect = Callable[["Wave"], None]
Fetch = tuple[list[words.Unit], Effect, int | None]
"""Its words, what it does, and the input that it looks up elements of, if that is there."""


def texel(number: int, x: int, y: int) -> np.ndarray:
    """The four words of a texel of input `number`, different from those of all texels near it."""
    first = x * 0x9E3779B1 ^ y * 0x85EBCA77 ^ number * 0xC2B2AE3D
    return np.array([(first * (2 * channel + 1) + channel) & 0xFFFFFFFF for channel in range(CHANNELS)], RESULT)


@dataclass(kw_only=True)
class World:
    """What wavefronts share: constants, areas as dwords, and the data share, of which each wave slot has its rows."""

    constants: np.ndarray
    areas: tuple[dict[int, int], dict[int, int]] = field(default_factory=lambda: ({}, {}))
    share: Share = field(default_factory=lambda: Share(SHARE_ROWS))


@dataclass(kw_only=True)
class Wave:
    """A wavefront: its registers, then its clause temporaries, as [register][channel][pixel], and its outputs."""

    number: int
    first: int
    registers: np.ndarray
    outputs: np.ndarray
    written: np.ndarray
    values: np.ndarray
    valued: np.ndarray
    world: World
    masks: dict[str, np.ndarray] = field(default_factory=dict)
    index: int = 0

    @property
    def size(self) -> int:
        """Pixels."""
        return int(self.registers.shape[-1])

    def at(self, register: int, relative: bool) -> int | None:
        """Where a register is, None if there is none."""
        if 124 <= register < 128 and not relative:
            return GPRS + register - 124
        number = register + self.index * relative
        return number if number < GPRS else None

    def read(self, register: int, relative: bool) -> np.ndarray:
        """A copy of [4][pixel], zeros of what is none."""
        row = self.at(register, relative)
        return np.zeros((CHANNELS, self.size), RESULT) if row is None else self.registers[row].copy()

    def write(self, register: int, relative: bool, found: np.ndarray, selects: list[int], pixels: np.ndarray) -> None:
        """Components of [4][pixel] by DST_SEL, of some pixels."""
        row = self.at(register, relative)
        for channel, select in enumerate(selects):
            if row is not None and select != MASK:
                self.registers[row][channel][pixels] = chosen(found, select)[pixels]

    def numbers(self) -> list[int]:
        """The pixels' numbers in the domain."""
        return [self.first + (n & 1) + 2 * (n >> 2) + (DOMAIN[0] if n & 2 else 0) for n in range(self.size)]


class Drawing:
    """Draws instructions."""

    def __init__(self, draw: np.random.Generator, number: int) -> None:
        self.draw, self.number = draw, number

    def _chance(self, probability: float) -> bool:
        return bool(self.draw.random() < probability)

    def _below(self, limit: int) -> int:
        return int(self.draw.integers(limit))

    def _register(self) -> tuple[int, bool]:
        """Few registers, so that instructions meet; some that do not exist."""
        return int(self.draw.choice([0, 1, 2, 3, 4, 5, 6, 7, 9, 125])), self._chance(0.2)

    def _selects(self) -> list[int]:
        return [int(select) for select in self.draw.choice([0, 1, 2, 3, 4, 5, MASK], CHANNELS)]

    def fetch(self) -> Fetch:
        """Any instruction."""
        kinds = self._texture, self._texture, self._size, self._gradients, self._vertex, self._constants
        return kinds[self._below(len(kinds))]() if self._chance(0.7) else self._memory()

    def _said(self) -> tuple[dict[str, int], tuple[int, bool], tuple[int, bool], list[int]]:
        """Fields that many have, source, destination and DST_SEL."""
        source, target, selects = self._register(), self._register(), self._selects()
        fields = {f"dst_sel_{name}": select for name, select in zip("xyzw", selects, strict=True)}
        return {"src_rel": source[1], "dst_rel": target[1], **fields}, source, target, selects

    def _texture(self) -> Fetch:
        """A fetch by coordinates."""
        fields, source, target, selects = self._said()
        number, integer = self._below(len(INPUTS)), self._chance(0.4)
        normalised = [not integer and self._chance(0.4) for _ in range(2)]
        coordinates = [self._below(8) if self._chance(0.3) else self._below(4) for _ in range(2)]
        offsets = [self._below(32) - 16 for _ in range(2)]
        for axis, name in enumerate("xy"):
            fields |= {f"src_sel_{name}": coordinates[axis], f"offset_{name}": offsets[axis] % 32}
            fields[f"coord_type_{name}"] = normalised[axis]
        units = words.tex("LD" if integer else "SAMPLE_L", target[0], source[0], TEXTURES + number, **fields)
        sizes, limits = INPUTS[number], LIMITS[number]

        def effect(wave: Wave) -> None:
            given, found = wave.read(*source), np.zeros((CHANNELS, wave.size), RESULT)
            plain = [chosen(given, select) for select in coordinates]
            scaled = [product(plain[axis], sizes[axis]) for axis in range(2)]
            used = [(scaled if normalised[axis] else plain)[axis] for axis in range(2)]
            for pixel in range(wave.size if number != ABSENT else 0):
                pair = (texel_index(int(used[a][pixel]), offsets[a], limits[a], integer=integer) for a in range(2))
                found[:, pixel] = texel(number, *pair)
            wave.write(*target, found, selects, wave.masks["executing"])

        return units, effect, None if number == ABSENT else number

    def _size(self) -> Fetch:
        fields, source, target, selects = self._said()
        number = self._below(len(INPUTS))
        units = words.tex("GET_TEXTURE_RESINFO", target[0], source[0], TEXTURES + number, **fields)

        def effect(wave: Wave) -> None:
            sizes = np.array([*INPUTS[number], 1, 1], RESULT)
            wave.write(*target, np.repeat(sizes[:, None], wave.size, axis=1), selects, wave.masks["executing"])

        return units, effect, None

    def _gradients(self) -> Fetch:
        fields, source, target, selects = self._said()
        vertical, coordinates = self._chance(0.5), [self._below(6) for _ in range(CHANNELS)]
        fields |= {f"src_sel_{name}": select for name, select in zip("xyzw", coordinates, strict=True)}
        units = words.tex(f"GET_GRADIENTS_{'HV'[vertical]}", target[0], source[0], **fields)

        def effect(wave: Wave) -> None:
            found = gradients(wave.read(*source), coordinates, vertical=vertical)
            wave.write(*target, found, selects, wave.masks["executing"])

        return units, effect, None

    def _vertex(self) -> Fetch:
        """An element of an input by its number."""
        fields, source, target, selects = self._said()
        number, select = self._below(len(INPUTS)), self._below(CHANNELS)
        units = words.vtx(target[0], source[0], TEXTURES + number, src_sel_x=select, **fields)
        pitch, (columns, rows) = INPUTS[number][0], LIMITS[number]

        def effect(wave: Wave) -> None:
            given, found = wave.read(*source)[select], np.zeros((CHANNELS, wave.size), RESULT)
            for pixel in range(wave.size if number != ABSENT else 0):
                y, x = divmod(int(given[pixel]), pitch)
                found[:, pixel] = texel(number, min(x, columns - 1), min(y, rows - 1))
            wave.write(*target, found, selects, wave.masks["executing"])

        return units, effect, None if number == ABSENT else number

    def _constants(self) -> Fetch:
        fields, source, target, selects = self._said()
        select, offset = self._below(CHANNELS), int(self.draw.choice([0, 0, 1, 4, 1000]))
        channels, form = list({1: 14, 2: 30, 3: 48, 4: 35}.items())[self._below(4)]
        fields |= {"src_sel_x": select, "offset": 4 * offset, "data_format": form}
        units = words.vtx(target[0], source[0], **fields)

        def effect(wave: Wave) -> None:
            elements = [
                element(wave.world.constants, CHANNELS * int(index) + offset, channels, ONE)
                for index in wave.read(*source)[select]
            ]
            wave.write(*target, np.array(elements, RESULT).T, selects, wave.masks["executing"])

        return units, effect, None

    def _memory(self) -> Fetch:
        kinds = self._share_write, self._share_read, self._area
        return kinds[self._below(3)]()

    def _share_write(self) -> Fetch:
        source, burst, selects = self._below(6), 1 + self._below(3), self._selects()
        stride, index = 4 * self._below(3), 4 * self._below(5)
        named = {f"src_sel_{name}": select for name, select in zip("xyzw", selects, strict=True)}
        units = words.share_write(source, burst_count=burst - 1, dst_index=index, dst_stride=stride, **named)

        def effect(wave: Wave) -> None:
            registers = np.stack([wave.read(source + k, False) for k in range(burst)])
            wave.world.share.write(
                self._access(wave, True, burst, registers, stride=stride, index=index, selects=selects)
            )

        return units, effect, None

    def _access(self, wave: Wave, writes: bool, burst: int, source: np.ndarray, **fields: Any) -> ShareAccess:
        masks = wave.masks
        return ShareAccess(
            wave=wave.number, writes=writes, burst=burst, source=source,
            executing=masks["executing"], active=masks["active"], fields=fields,
        )  # fmt: skip

    def _share_read(self) -> Fetch:
        source, target, burst, offset = self._below(GPRS), self._below(6), 1 + self._below(3), self._below(8)
        broadcasts, selects_word, written = self._chance(0.4), self._chance(0.4), self._below(16)
        fields = {f"dst_wr_{name}": written >> index & 1 for index, name in enumerate("xyzw")}
        fields |= {"rd_offset": offset, "broadcast": int(broadcasts), "mux_cntl": 2 * selects_word}
        units = words.share_read(target, source, burst_count=burst - 1, **fields)
        selects = [index if written >> index & 1 else MASK for index in range(CHANNELS)]

        def effect(wave: Wave) -> None:
            said = {"coordinates": [0, 1], "offset": offset, "broadcasts": broadcasts, "selects_word": selects_word}
            access = self._access(wave, False, burst, wave.read(source, False)[None], **said)
            for k, found in enumerate(wave.world.share.read(access)):
                wave.write(target + k, False, found.T, selects, wave.masks["executing"])

        return units, effect, None

    def _area_access(self) -> AreaAccess:
        """Elements that no other wave slot writes."""
        scratch, size, dwords = self._chance(0.5), self._below(20), int(self.draw.choice([1, 2, 4]))
        base = self._below(3) if scratch else self.number * OWN_DWORDS // dwords + self._below(20)
        dwords = CHANNELS if scratch else dwords
        indexed = self._chance(0.6)
        return AreaAccess(scratch=scratch, indexed=indexed, base=base, size=size, dwords=dwords, burst=0)

    def _area(self) -> Fetch:
        """RD_SCATTER and RD_SCRATCH."""
        fields, source, target, selects = self._said()
        access, burst, select = self._area_access(), 1 + self._below(2), self._below(CHANNELS)
        target = min(target[0], 126), target[1]
        fields |= {
            "elem_size": access.dwords - 1, "indexed": access.indexed, "array_base": access.base, "src_sel_x": select,
            "array_size": access.size, "burst_count": burst - 1,
        }  # fmt: skip
        units = words.memory_read("RD_SCRATCH" if access.scratch else "RD_SCATTER", target[0], source[0], **fields)

        def effect(wave: Wave) -> None:
            indices = wave.read(*source)[select]
            for k in range(burst):
                found = np.zeros((CHANNELS, wave.size), RESULT)
                for pixel in range(wave.size):
                    for channel, dword in _dwords(wave, access, k, int(indices[pixel]), pixel):
                        found[channel][pixel] = wave.world.areas[access.scratch].get(dword, 0)
                wave.write(target[0] + k, target[1], found, selects, wave.masks["executing"])

        return units, effect, None

    def export(self) -> tuple[words.Unit, Effect]:
        """An export to outputs, to the conditional value or to an area."""
        return self._to_area() if self._chance(0.5) else self._to_outputs()

    def _to_outputs(self) -> tuple[words.Unit, Effect]:
        (source, relative), selects = self._register(), self._selects()
        base, burst = (61, 1) if self._chance(0.3) else (self._below(2), 1 + self._below(3))
        unit = words.export(base, source, selects, rw_rel=int(relative), burst_count=burst - 1)

        def effect(wave: Wave) -> None:
            for k in range(burst):
                given, pixels = wave.read(source + k, relative), wave.masks["executing"]
                for channel, select in enumerate(selects):
                    if select != MASK and base == 61 and channel == 0:
                        wave.values[pixels], wave.valued[pixels] = chosen(given, select)[pixels], True
                    elif select != MASK and base != 61:
                        wave.outputs[base + k][channel][pixels] = chosen(given, select)[pixels]
                        wave.written[base + k][channel][pixels] = True

        return unit, effect

    def _to_area(self) -> tuple[words.Unit, Effect]:
        (source, relative), index, access = self._register(), self._below(GPRS), self._area_access()
        burst, mask = 1 + self._below(3), self._below(16)
        unit = words.memory_export(
            access.base, source, name="MEM_SCRATCH" if access.scratch else "MEM_EXPORT", mask=mask,
            rw_rel=int(relative), index_gpr=index, burst_count=burst - 1, array_size=access.size,
            elem_size=access.dwords - 1, type=int(access.indexed) + 2 * self._below(2),
        )  # fmt: skip

        def effect(wave: Wave) -> None:
            indices = wave.read(index, False)[0]
            for k in range(burst):
                given = wave.read(source + k, relative)
                for pixel in np.flatnonzero(wave.masks["executing"] & wave.masks["valid_mask"] & wave.masks["covered"]):
                    for channel, dword in _dwords(wave, access, k, int(indices[pixel]), int(pixel)):
                        if mask >> channel & 1:
                            wave.world.areas[access.scratch][dword] = int(given[channel][pixel])

        return unit, effect


def _dwords(wave: Wave, access: AreaAccess, k: int, index: int, pixel: int) -> list[tuple[int, int]]:
    """Components that exist of a pixel's element, and their addresses."""
    if access.scratch and not wave.masks["covered"][pixel]:
        return []
    first = access.first(index, DOMAIN, wave.numbers()[pixel]) + k * (
        CHANNELS * DOMAIN[0] * DOMAIN[1] if access.scratch else access.dwords
    )
    return [
        (channel, first + channel)
        for channel in range(CHANNELS)
        if first + channel < access.bound(AREAS[access.scratch])
    ]

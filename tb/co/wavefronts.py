"""Wavefronts of conditional values, and the golden model of their tests."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ctm.rtl.border.conditional import wavefront_test_layout
from ctm.rtl.isa.conditional import ConditionalLocation
from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.word import fields
from ctm.sim.golden.co.unit import ConditionalUnit
from ctm.sim.golden.mc.address import element_address
from ctm.sim.memory import Memory

LINE = 64
CORNERS = np.array(
    [
        0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x807FFFFF, 0x00800000, 0x80800000,
        0x3F800000, 0xBF800000, 0x3F7FFFFF, 0x3F800001, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000,
        0x7F800001, 0xFF800001, 0x7FC00000, 0x7FFFFFFF, 0xFFFFFFFF, 0x3F000000, 0x3EFFFFFF, 0x3F000001,
        # The smallest that becomes 1 of 65535, its neighbours, and what becomes 0x7FFF, 0x8000, 0xFFFE and 0xFFFF.
        0x37000080, 0x37000081, 0x3700007F, 0x37800080, 0x3EFFFF00, 0x3F000080, 0x3F7FFEFF, 0x3F7FFF7F,
    ],
    np.uint32,
)  # fmt: skip
"""Conditional values: both zeros, denormals, ones, infinities, NaNs, and halves of what 16 bits can tell apart."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Wavefronts:
    """n wavefronts of `lanes`: `i` and `j` of lane 0 [n], `mask` and `values` (bits) [n, lanes]."""

    i: np.ndarray
    j: np.ndarray
    mask: np.ndarray
    values: np.ndarray

    def __len__(self) -> int:
        return len(self.i)

    @property
    def lanes(self) -> int:
        """Lanes of a wavefront."""
        return self.mask.shape[1]

    @property
    def x(self) -> np.ndarray:
        """Columns, [n, lanes]; decisions.md has the order of lanes."""
        lane = np.arange(self.lanes)
        return self.i[:, None] + lane // 4 * 2 + lane % 2

    @property
    def y(self) -> np.ndarray:
        """Rows, [n, lanes]."""
        return self.j[:, None] + np.arange(self.lanes) // 2 % 2

    def payloads(self) -> list[int]:
        """What goes to the unit."""
        offsets = {name: offset for name, offset, _ in fields(wavefront_test_layout(self.lanes))}
        masks = (self.mask << np.arange(self.lanes)).sum(axis=1)
        return [
            int(i) << offsets["i"] | int(j) << offsets["j"] | int(mask) << offsets["mask"]
            | int.from_bytes(values.tobytes(), "little") << offsets["values"]
            for i, j, mask, values in zip(self.i, self.j, masks, self.values, strict=True)
        ]  # fmt: skip

    def __getitem__(self, span: slice) -> "Wavefronts":
        return Wavefronts(i=self.i[span], j=self.j[span], mask=self.mask[span], values=self.values[span])


def no_wavefronts(lanes: int) -> Wavefronts:
    """None at all."""
    return random_wavefronts(np.random.default_rng(0), 0, lanes, width=1, height=1)


def random_wavefronts(generator: np.random.Generator, count: int, lanes: int, *, width: int, height: int) -> Wavefronts:
    """Wavefronts near each other, most of them in `width` x `height` and some beyond, with values from few to many."""
    i, j = (
        np.abs(generator.integers(-2, 3, count).cumsum() * 2 + 2 * int(generator.integers(0, limit))) for limit in
        (width, height)
    )  # fmt: skip
    i, j = i % (width + 2 * lanes) // 2 * 2, j % (height + 4) // 2 * 2
    far = generator.random(count) < 0.02
    i, j = np.where(far, 4096 - lanes, i), np.where(generator.random(count) < 0.02, 4094, j)
    mask = generator.random((count, lanes)) < generator.choice([0.0, 0.3, 1.0, 1.0], (count, 1))
    values = random_values(generator, (count, lanes))
    return Wavefronts(i=i, j=j, mask=mask, values=values)


def random_values(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Corners, numbers in [0, 1] of which some are halves of 1/65535, and words of any kind."""
    kind = generator.integers(0, 4, shape)
    halves = (generator.integers(0, 131072, shape) / 131070).astype(np.float32).view(np.uint32)
    few = (generator.integers(0, 8, shape) / 8).astype(np.float32).view(np.uint32)
    words = generator.integers(0, 1 << 32, shape, dtype=np.uint32)
    return np.choose(kind, [generator.choice(CORNERS, shape), halves, few, words]).astype(np.uint32)


def random_contents(generator: np.random.Generator, data_format: DataFormat, size: int) -> bytes:
    """Bytes of a buffer, in which values of `random_values` are often equal, less or greater."""
    if data_format is DataFormat.UINT16_1:
        few = generator.choice([0, 1, 2, 0x1FFF, 0x7FFF, 0x8000, 0xFFFE, 0xFFFF], size // 2)
        many = generator.integers(0, 1 << 16, size // 2)
        return np.where(generator.random(size // 2) < 0.5, few, many).astype(np.uint16).tobytes()
    return random_values(generator, (size // 4,)).tobytes()


def expected(
    unit: ConditionalUnit, memory: Memory, wavefronts: Wavefronts, client: ConditionalLocation
) -> tuple[np.ndarray, np.ndarray]:
    """The masks of lanes that pass, [n], and the addresses of what is stored in `memory`, pair by pair."""
    passed, written = wavefronts.mask.copy(), [np.zeros(0, np.int64)]
    if client is unit.location:
        rows, lanes = np.nonzero(wavefronts.mask)
        x, y = wavefronts.x[rows, lanes], wavefronts.y[rows, lanes]
        value = wavefronts.values[rows, lanes].view(np.float32)
        for begin, end in _without_repetition(element_address(unit.buffer, x, y)):
            span = slice(begin, end)
            found, stored = unit.decide(memory, x[span], y[span], value[span])
            unit.store(memory, x[span][stored], y[span][stored], value[span][stored])
            written.append(element_address(unit.buffer, x[span][stored], y[span][stored]))
            passed[rows[span], lanes[span]] = found
    return (passed << np.arange(wavefronts.lanes)).sum(axis=1), np.concatenate(written)


def _without_repetition(addresses: np.ndarray) -> Iterator[tuple[int, int]]:
    """Ranges [begin, end) in which no address occurs twice."""
    begin = 0
    seen: set[int] = set()
    for number, address in enumerate(addresses.tolist()):
        if address in seen:
            yield begin, number
            begin, seen = number, set()
        seen.add(address)
    yield begin, len(addresses)

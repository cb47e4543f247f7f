"""Fetches of wavefronts: random ones, the responses of the golden model, and the lines that a cache requests."""

from dataclasses import dataclass

import numpy as np

from ctm.rtl.border.buffers import INPUT_WRITE
from ctm.rtl.border.clients import fetch_request_layout
from ctm.rtl.config import CacheConfig
from ctm.rtl.isa.formats import DataFormat, Tiling
from ctm.rtl.isa.limits import CHANNELS, INPUTS
from ctm.rtl.isa.word import fields, pack
from ctm.sim.golden.mc.address import extent
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.golden.mc.elements import fetch_addresses, read_at
from ctm.sim.memory import Memory
from ctm.tb.mc.buffers import buffer_bits

TAG_BITS = 32
LINE = CacheConfig.LINE_BYTES
BASE = 1 << 20


@dataclass(frozen=True, kw_only=True, eq=False)
class Fetches:
    """n fetches of wavefronts of `lanes`: `input` and `uncached` [n], `x`, `y` and `fetch` [n, lanes]."""

    buffers: list[Buffer]
    input: np.ndarray
    uncached: np.ndarray
    x: np.ndarray
    y: np.ndarray
    fetch: np.ndarray

    def __len__(self) -> int:
        return len(self.input)

    @property
    def lanes(self) -> int:
        """Lanes of a wavefront."""
        return self.x.shape[1]

    def payloads(self) -> list[int]:
        """What goes to the cache; a fetch's tag is made from its number."""
        layout = fetch_request_layout(self.lanes, TAG_BITS)
        offsets = {name: offset for name, offset, _ in fields(layout)}
        payloads = []
        for number in range(len(self)):
            bits = tag(number) | int(self.input[number]) << offsets["input"]
            bits |= int(self.uncached[number]) << offsets["uncached"]
            for lane in range(self.lanes):
                bits |= int(self.x[number, lane]) << offsets["x"] + 12 * lane
                bits |= int(self.y[number, lane]) << offsets["y"] + 12 * lane
                bits |= int(self.fetch[number, lane]) << offsets["fetch"] + lane
            payloads.append(bits)
        return payloads

    def inputs(self) -> list[int]:
        """What sets the inputs that are bound."""
        return [
            pack(INPUT_WRITE, valid=1, number=number, buffer=buffer_bits(buffer))
            for number, buffer in enumerate(self.buffers)
        ]

    def addresses(self) -> np.ndarray:
        """The byte addresses of what each channel reads, [n, lanes, channels]; -1 where nothing is read."""
        found = np.full((*self.x.shape, CHANNELS), -1, np.int64)
        for number, buffer in enumerate(self.buffers):
            own = self.input == number
            if buffer.width_limit and own.any():
                channels = fetch_addresses(buffer, self.x[own].ravel(), self.y[own].ravel())
                each = np.stack(channels if len(channels) == CHANNELS else channels * CHANNELS, axis=-1)
                found[own] = np.where(self.fetch[own][..., None], each.reshape(-1, self.lanes, CHANNELS), -1)
        return found

    def words(self, memory: Memory) -> np.ndarray:
        """What the golden model reads, [n, lanes, channels]; 0 in lanes that do not fetch."""
        found = np.zeros((*self.x.shape, CHANNELS), np.uint32)
        addresses = self.addresses()
        for number, buffer in enumerate(self.buffers):
            own = (self.input == number)[:, None] & (addresses[..., 0] >= 0)
            each = addresses[own]
            if buffer.is_2x2:
                read = np.stack([read_at(memory, buffer, each[:, channel])[0] for channel in range(CHANNELS)])
            else:
                read = read_at(memory, buffer, each[:, 0])
            found[own] = read.view(np.uint32).T
        return found


def tag(number: int) -> int:
    """A fetch's tag: every bit of it changes."""
    return number * 0x9E37_79B1 % (1 << TAG_BITS)


def random_fetches(seed: int, count: int, lanes: int) -> tuple[Memory, Fetches]:
    """Fetches of inputs of all formats and tilings, most of them near each other, in random memory."""
    generator = np.random.default_rng(seed)
    memory, buffers = Memory(), []
    for number in range(INPUTS):
        # The first ten have each format, linear and tiled, with and without 2x2; the last one has no column.
        data_format = list(DataFormat)[number % 5]
        tiling = Tiling(number // 5 + 2 * (seed % 2) & 3)
        pitch = int(generator.integers(1, 65)) * 4 if number < INPUTS - 1 else 0
        height = int(generator.integers(1, 70))
        base = int(generator.integers(0, 1 << 20)) * 2048
        buffer = Buffer(base=base, pitch=pitch, tiling=tiling, format=data_format, height=height)
        memory.write(base, generator.bytes(extent(buffer) + LINE))
        buffers.append(buffer)

    chosen = generator.integers(0, INPUTS, 1 + count // 8).repeat(8)[:count]
    limits = np.array([(max(1, buffer.width_limit), buffer.height_limit) for buffer in buffers])[chosen]
    walk = generator.integers(-2, 3, (2, count)).cumsum(axis=1)
    pair = []
    for axis, steps in enumerate(walk):
        spread = generator.choice([1, 2, 4, 64], (count, 1))
        index = np.abs(steps)[:, None] + generator.integers(0, spread, (count, lanes))
        pair.append(index % limits[:, axis, None])
    fetch = generator.random((count, lanes)) < generator.choice([0.0, 0.5, 1.0, 1.0, 1.0], (count, 1))
    # What lanes hold that do not fetch means nothing.
    x, y = (np.where(fetch, index, generator.integers(0, 4096, index.shape)) for index in pair)
    uncached = generator.random(count) < 0.05
    return memory, Fetches(buffers=buffers, input=chosen, uncached=uncached, x=x, y=y, fetch=fetch)


def row_of_pairs(count: int, step: int, lanes: int = 4, *, uncached: bool = False) -> Fetches:
    """Wavefronts on a row of FLOAT32_1, each `step` elements after the one before; a line is 16 elements."""
    first = np.arange(count)[:, None] * step
    x = first + np.arange(lanes)
    buffer = Buffer(base=BASE, pitch=4096, height=1, format=DataFormat.FLOAT32_1)
    return Fetches(
        buffers=[buffer], input=np.zeros(count, int), uncached=np.full(count, uncached), x=x, y=0 * x,
        fetch=np.ones_like(x, bool),
    )  # fmt: skip


def filled(seed: int = 0) -> Memory:
    """Random memory from the row's base on."""
    memory = Memory()
    memory.write(BASE, np.random.default_rng(seed).bytes(1 << 14))
    return memory


class ReferenceCache:
    """A cache of lines with round-robin replacement: its requests do not depend on when responses come."""

    def __init__(self, config: CacheConfig) -> None:
        self._sets = [[-1] * config.ways for _ in range(config.sets)]
        self._victims = [0] * config.sets
        self.hits = self.misses = 0

    def requests_line(self, line: int, *, uncached: bool) -> bool:
        """Whether an access requests its line from memory; updates the tags."""
        number = line % len(self._sets)
        ways = self._sets[number]
        if uncached:
            return True
        if line in ways:
            self.hits += 1
            return False
        self.misses += 1
        ways[self._victims[number]] = line
        self._victims[number] = (self._victims[number] + 1) % len(ways)
        return True

    def invalidate(self) -> None:
        """Invalidate all lines; the round-robin pointers are kept."""
        self._sets = [[-1] * len(ways) for ways in self._sets]

    def requests(self, fetches: Fetches) -> list[int]:
        """The lines that are requested, in order, as `line * 2 + uncached`."""
        requests = []
        for addresses, uncached in zip(fetches.addresses(), fetches.uncached, strict=True):
            lines = addresses[addresses >= 0] // LINE
            # In the order of the first channel that needs each.
            for line in dict.fromkeys(lines.tolist()):
                if self.requests_line(line, uncached=bool(uncached)):
                    requests.append(line << 1 | int(uncached))
        return requests

"""Random work for the memory controller alone, and what the golden model makes of it."""

from dataclasses import dataclass, field, replace

import numpy as np

from ctm.rtl.border.clients import output_layout, uncached_write_layout
from ctm.rtl.border.commands import UNIT_COMMAND
from ctm.rtl.isa.commands import BY_NAME
from ctm.rtl.isa.formats import ELEMENTS, DataFormat, Tiling
from ctm.rtl.isa.limits import CHANNELS, INPUTS, OUTPUTS, SYSTEM_MEMORY
from ctm.rtl.isa.word import pack
from ctm.sim.golden.mc.address import element_address, extent
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.golden.mc.elements import write
from ctm.sim.memory import Memory
from ctm.tb.cosim.controller_top import SLOT_BITS
from ctm.tb.lib.random_values import random_floats
from ctm.tb.mc.buffers import format_word
from ctm.tb.mc.fetches import LINE, Fetches, random_fetches

_OUTPUT_BASES = (0x0810_0000, 0x8820_0000, 0x0830_0000, 0x8840_0000)
_WORD = 4


def command(name: str, *words: int) -> int:
    """A command as the memory controller takes it."""
    bits = sum(word << 32 * position for position, word in enumerate(words))
    return pack(UNIT_COMMAND, opcode=BY_NAME[name].opcode, words=bits)


def set_buffer(name: str, index: int, buffer: Buffer) -> int:
    """The command that describes an input or an output."""
    word = format_word(buffer.format, buffer.tiling, buffer.pitch)
    return command(name, index, buffer.base, word, buffer.height)


@dataclass
class Traffic:
    """What clients ask; `model` holds what memory does, and after `finish` what it is to hold."""

    seed: int
    lanes: int
    model: Memory
    fetches: Fetches
    outputs: list[Buffer]
    output_mask: int
    output_payloads: list[int] = field(default_factory=list)
    uncached_payloads: list[int] = field(default_factory=list)
    acquired: list[int] = field(default_factory=list)
    """Slots that get a response."""
    acknowledged_words: list[dict[int, int]] = field(default_factory=list)
    """For each response, words by address that are in memory from then on."""
    _pairs: list[tuple[int, np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = field(default_factory=list)

    @property
    def regions(self) -> list[tuple[int, int]]:
        """Address and size of all that is read or written."""
        buffers = [*self.fetches.buffers, *self.outputs]
        return [(buffer.base, extent(buffer) + LINE) for buffer in buffers]

    def finish(self) -> None:
        """Let the model write what the clients have written."""
        for target, x, y, values, mask in self._pairs:
            enabled = np.array([self.output_mask >> channel & 1 for channel in range(CHANNELS)], bool)
            write(self.model, self.outputs[target], x, y, values.T, mask.T & enabled[:, None])

    def draw_outputs(self, count: int) -> None:
        """Wavefronts to be stored in the outputs 1 to 3, some of their pairs beyond the limits."""
        generator = np.random.default_rng([self.seed, 1])
        layout, lane = output_layout(self.lanes), np.arange(self.lanes)
        for _ in range(count):
            target = int(generator.integers(1, OUTPUTS))
            buffer = self.outputs[target]
            i = int(generator.integers(0, buffer.width_limit + 4)) & ~1
            j = int(generator.integers(0, buffer.height_limit + 2)) & ~1
            words = random_floats(generator, (self.lanes, CHANNELS)).view(np.float32)
            mask = generator.random((self.lanes, CHANNELS)) < generator.choice([0.3, 1.0])
            bits = int.from_bytes(words.tobytes(), "little")
            chosen = sum(int(bit) << position for position, bit in enumerate(mask.ravel()))
            self.output_payloads.append(pack(layout, i=i, j=j, target=target, words=bits, mask=chosen))
            x, y = i + 2 * (lane // 4) + (lane & 1), j + (lane >> 1 & 1)
            self._pairs.append((target, x, y, words, mask))

    def draw_uncached(self, count: int) -> None:
        """Uncached writes: pairs repeat in a write and from write to write."""
        generator = np.random.default_rng([self.seed, 2])
        layout, buffer = uncached_write_layout(self.lanes, SLOT_BITS), self.outputs[0]
        written: dict[int, int] = {}
        owners: dict[int, int] = {}
        for number in range(count):
            x = generator.integers(0, buffer.width_limit, self.lanes)
            y = np.full(self.lanes, number // 2 % buffer.height_limit)
            values = generator.integers(0, 1 << 32, self.lanes, dtype=np.uint32)
            mask = generator.random(self.lanes) < generator.choice([0.0, 0.5, 1.0, 1.0])
            acquires, wave = int(generator.integers(2)), int(generator.integers(1 << SLOT_BITS))
            packed = {
                name: sum(int(value) << 12 * lane for lane, value in enumerate(coordinates))
                for name, coordinates in (("x", x), ("y", y))
            }
            bits = int.from_bytes(values.tobytes(), "little")
            chosen = sum(int(bit) << lane for lane, bit in enumerate(mask))
            self.uncached_payloads.append(
                pack(layout, wave=wave, acquires=acquires, values=bits, mask=chosen, **packed)
            )  # fmt: skip
            if self.output_mask & 1:
                for address, value in zip(element_address(buffer, x, y)[mask], values[mask], strict=True):
                    written[int(address)], owners[int(address)] = int(value), number
            if acquires:
                self.acquired.append(wave)
                self.acknowledged_words.append(dict(written))
        # What is written again later may already be there.
        numbers = [number for number, payload in enumerate(self.uncached_payloads) if payload >> SLOT_BITS & 1]
        for number, words in zip(numbers, self.acknowledged_words, strict=True):
            for address in [address for address in words if owners[address] > number]:
                del words[address]
        for address, value in written.items():
            self.model.write(address, value.to_bytes(_WORD, "little"))


def _output(generator: np.random.Generator, number: int) -> Buffer:
    formats = [DataFormat.FLOAT32_1] if number == 0 else list(DataFormat)
    data_format = formats[int(generator.integers(len(formats)))]
    tiling = [Tiling.LINEAR, Tiling.TILED][int(generator.integers(2))]
    # Pitches of whole tiles and of whole 32 bytes, so that no elements share bytes.
    step = 32 if tiling is Tiling.TILED else max(4, 32 // ELEMENTS[data_format].element_bytes)
    return Buffer(
        base=_OUTPUT_BASES[number], pitch=step * int(generator.integers(1, 4)), tiling=tiling, format=data_format,
        height=int(generator.integers(2, 30)),
    )  # fmt: skip


def _moved(memory: Memory, fetches: Fetches) -> Fetches:
    """Fetches of which every other input lies in system memory."""
    buffers = []
    for number, buffer in enumerate(fetches.buffers):
        if number % 2:
            size = extent(buffer) + LINE
            memory.write(buffer.base + SYSTEM_MEMORY, memory.read(buffer.base, size))
            buffer = replace(buffer, base=buffer.base + SYSTEM_MEMORY)
        buffers.append(buffer)
    return replace(fetches, buffers=buffers)


def random_traffic(seed: int, *, lanes: int, count: int) -> Traffic:
    """About `count` accesses of each kind; inputs and outputs are `INPUTS` and `OUTPUTS` buffers."""
    generator = np.random.default_rng([seed, 0])
    memory, fetches = random_fetches(seed, count, lanes)
    fetches = _moved(memory, fetches)
    assert len(fetches.buffers) == INPUTS
    outputs = [_output(generator, number) for number in range(OUTPUTS)]
    for buffer in outputs:
        memory.write(buffer.base, generator.bytes(extent(buffer) + LINE))
    mask = 15 if seed % 3 else int(generator.integers(16))
    return Traffic(seed=seed, lanes=lanes, model=memory, fetches=fetches, outputs=outputs, output_mask=mask)

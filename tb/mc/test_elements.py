"""Conversion of elements, compiled, against the golden model's reads and writes."""

import numpy as np
import pytest
from amaranth import Module, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import WORDS
from ctm.rtl.config import PipelineConfig
from ctm.rtl.isa.formats import ELEMENTS, DataFormat
from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.mc.elements import ELEMENT_BYTES, ElementBytes, ElementWords, conversion
from ctm.sim.compiled import CompiledUnit
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.golden.mc.elements import read, read_at, write
from ctm.sim.memory import Memory
from ctm.tb.lib.words import CORNERS

COUNT = 70_000
PITCH = 8188


class Converted(wiring.Component):
    """A lane's words, converted as an input's format says."""

    raw: In(WORDS)
    upper: In(CHANNELS)
    format: In(DataFormat)
    gathers: In(1)
    absent: In(1)
    words: Out(WORDS)

    latency = 0

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.element = element = ElementWords()
        form, flags = Value.cast(self.format), {"gathers": self.gathers, "absent": self.absent}
        for channel in range(CHANNELS):
            how = conversion(m, channel, form, **flags, upper=self.upper[channel])
            m.d.comb += [element.raw[channel].eq(self.raw[channel]), element.conversions[channel].eq(how)]
        m.d.comb += self.words.eq(element.words)
        return m


@pytest.fixture(scope="module")
def reader() -> CompiledUnit:
    return CompiledUnit(Converted())


def filled_memory(seed: int) -> Memory:
    """All numbers of 16 bits, then random bytes."""
    memory = Memory()
    numbers = np.arange(1 << 16, dtype=np.uint16)
    memory.view(np.uint16)[: numbers.size] = numbers
    memory.write(2 * numbers.size, np.random.default_rng(seed).bytes(1 << 21))
    return memory


def words_around(memory: Memory, addresses: np.ndarray) -> np.ndarray:
    """The words that hold these bytes."""
    return memory.view(np.uint32)[addresses // 4]


def as_bits(values: np.ndarray) -> np.ndarray:
    return values.view(np.uint32).T


@pytest.mark.parametrize("data_format", DataFormat)
def test_words_of_an_element_are_those_of_the_golden_model(reader, data_format):
    memory = filled_memory(1)
    shape = ELEMENTS[data_format]
    addresses = np.arange(COUNT, dtype=np.int64) * shape.element_bytes
    raw = np.full((COUNT, CHANNELS), 0xDEAD_BEEF, np.uint32)
    for channel in range(shape.channels):
        raw[:, channel] = words_around(memory, addresses + channel * shape.channel_bytes)
    found = reader(
        raw=raw, upper=np.where(addresses & 2, 15, 0), format=data_format.value, gathers=0, absent=0,
    )["words"]  # fmt: skip
    np.testing.assert_array_equal(found, as_bits(read_at(memory, Buffer(format=data_format), addresses)))


@pytest.mark.parametrize("data_format", DataFormat)
def test_a_2x2_fetch_takes_channel_0_of_four_elements(reader, data_format):
    memory = filled_memory(2)
    size = ELEMENTS[data_format].element_bytes
    addresses = np.random.default_rng(3).integers(0, (1 << 21) // size, (CHANNELS, COUNT)) * size
    raw = np.stack([words_around(memory, each) for each in addresses], axis=1)
    upper = sum((each >> 1 & 1) << index for index, each in enumerate(addresses))
    found = reader(raw=raw, upper=upper, format=data_format.value, gathers=1, absent=0)["words"]
    buffer = Buffer(format=data_format)
    expected = np.stack([read_at(memory, buffer, each)[0] for each in addresses])
    np.testing.assert_array_equal(found, as_bits(expected))


@pytest.mark.parametrize("gathers", [0, 1])
@pytest.mark.parametrize("data_format", DataFormat)
def test_an_input_without_a_column_reads_zeros(reader, data_format, gathers):
    raw = np.full((1, CHANNELS), 0xFFFF_FFFF, np.uint32)
    words = reader(raw=raw, upper=0, format=data_format.value, gathers=gathers, absent=1)["words"]
    assert not words.any()


@pytest.mark.parametrize("config", [PipelineConfig(), PipelineConfig(alignment=0, result=0)], ids=["deep", "shallow"])
@pytest.mark.parametrize("data_format", DataFormat)
def test_bytes_of_an_element_are_those_of_the_golden_model(data_format, config):
    generator = np.random.default_rng(4)
    words = generator.integers(0, 1 << 32, (COUNT, CHANNELS), np.uint32)
    words[: COUNT // 2] = generator.random((COUNT // 2, CHANNELS), np.float32).view(np.uint32)
    words[: len(CORNERS)] = np.array(CORNERS, np.uint32)[:, None]
    mask = generator.integers(0, 16, COUNT)
    results = CompiledUnit(ElementBytes(config))(words=words, mask=mask, format=data_format.value)

    size = ELEMENTS[data_format].element_bytes
    memory, expected = Memory(), Memory()
    buffer = Buffer(pitch=PITCH, height=0, format=data_format)
    before = generator.integers(0, 256, COUNT * ELEMENT_BYTES, np.uint8)
    y, x = np.divmod(np.arange(COUNT), 4096)
    row = PITCH * size // 32 * 32
    offsets = (y * row + x * size)[:, None] + np.arange(size)
    for each in (memory, expected):
        each.bytes[: 1 << 22] = np.resize(before, 1 << 22)
    channels = np.ascontiguousarray(words.T).view(np.float32)
    write(expected, buffer, x, y, channels, (mask >> np.arange(CHANNELS)[:, None] & 1).astype(bool))

    bytes_ = np.ascontiguousarray(results["bytes"]).view(np.uint8).reshape(COUNT, ELEMENT_BYTES)
    written = results["byte_mask"][:, None] >> np.arange(ELEMENT_BYTES) & 1
    assert not written[:, size:].any()
    memory.bytes[offsets] = np.where(written[:, :size], bytes_[:, :size], memory.bytes[offsets])
    np.testing.assert_array_equal(memory.bytes[: 1 << 22], expected.bytes[: 1 << 22])
    np.testing.assert_array_equal(as_bits(read(memory, buffer, x, y)), as_bits(read(expected, buffer, x, y)))

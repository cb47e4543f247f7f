"""Formats of elements: converts words of an input's lines to channels, and channels to the bytes of an output.

Source: CTM Guide pp. 5-7; docs/design/memory-controller.md. Channel 0 has the lowest address, and bytes are
little-endian.
"""

from amaranth import Array, Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.enum import Enum
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import WORDS
from ctm.rtl.border.lines import LINE_WORDS
from ctm.rtl.config import COMBINATIONAL, PipelineConfig
from ctm.rtl.fp.conversion import FromUnorm, ToUnorm
from ctm.rtl.isa.formats import ELEMENTS, DataFormat
from ctm.rtl.isa.limits import ADDRESS_BITS, BYTE_BITS, CHANNELS, WORD_BYTES
from ctm.rtl.lib.clock_gating import GatedStateless
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.lib.views import record
from ctm.rtl.mc.address import OWN

ELEMENT_BYTES = max(shape.element_bytes for shape in ELEMENTS.values())

POSITION = data.StructLayout({"word": (LINE_WORDS - 1).bit_length(), "upper": 1})
"""A channel's position in a line: its word, and for 16 bits its half."""

_UNORM_BITS = 16
_MISSING = (0, 0, 0, 0x3F80_0000)
"""The values of channels that a format lacks: 0, 0, 1."""


def channel_addresses(m: Module, buffer: data.View, addresses: data.View) -> list[Signal]:
    """Byte addresses of a fetch's channels, from those of the pair's neighbours.

    In 2x2 mode each channel comes from an element of its own, otherwise all from the pair's own element. Channels that
    the format lacks have an address in the same line. 8-bit channels have the address of their word.
    """
    wide = Value.cast(buffer.format).matches(
        *(code.value for code, shape in ELEMENTS.items() if shape.channels > 1 and shape.channel_bytes == WORD_BYTES)
    )
    found = []
    for channel in range(CHANNELS):
        address = Signal(ADDRESS_BITS, name=f"channel_{channel}_address")
        own = addresses[OWN] | Mux(wide, channel * WORD_BYTES, 0)
        m.d.comb += address.eq(Mux(buffer.gathers, addresses[channel], own))
        found.append(address)
    return found


def position(address: Value) -> Value:
    """The `POSITION` of a channel's address."""
    word_bits = WORD_BYTES.bit_length() - 1
    return Cat(address[word_bits : word_bits + POSITION["word"].width], address[word_bits - 1])


class UnormWords(wiring.Component):
    """The channels of an element, of 16 bits, as fractions of 1. Combinational.

    Members
    -------
    numbers : ``In(ArrayLayout(16, 4))``
    words : ``Out(WORDS)``
    """

    numbers: In(data.ArrayLayout(_UNORM_BITS, CHANNELS))
    words: Out(WORDS)

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        for channel in range(CHANNELS):
            m.submodules[f"unorm_{channel}"] = unorm = FromUnorm(_UNORM_BITS, COMBINATIONAL)
            m.d.comb += [unorm.number.eq(self.numbers[channel]), self.words[channel].eq(unorm.result)]
        return m


class ChannelBits(Enum, shape=2):
    """The bits of a channel's word that are converted."""

    LOWER = 0
    UPPER = 1
    OWN_BYTE = 2
    FIRST_BYTE = 3


class ChannelSource(Enum, shape=2):
    """What a channel is: its raw word, a fraction of 1, the value of a channel that the format lacks, or 0."""

    RAW = 0
    UNORM = 1
    MISSING = 2
    ZERO = 3


CONVERSION = data.StructLayout({"bits": ChannelBits, "source": ChannelSource})
"""How a channel follows from its word."""


def conversion(m: Module, channel: int, form: Value, *, gathers: Value, absent: Value, upper: Value) -> data.View:
    """The `CONVERSION` of a channel of an input of a format.

    In 2x2 mode, with `gathers`, each channel is channel 0 of an element. `upper` says whether 16 bits are in the word's
    upper half. An input that has no column is `absent`.
    """
    found = record(CONVERSION, name=f"conversion_{channel}")
    lacking = [format_.value for format_, shape in ELEMENTS.items() if shape.channels <= channel]
    m.d.comb += [found.bits.eq(upper), found.source.eq(ChannelSource.RAW)]
    with m.If(form == DataFormat.UINT8_4.value):
        m.d.comb += found.bits.eq(Mux(gathers, ChannelBits.FIRST_BYTE.value, ChannelBits.OWN_BYTE.value))
    with m.If(form.matches(DataFormat.UINT8_4.value, DataFormat.UINT16_1.value)):
        m.d.comb += found.source.eq(ChannelSource.UNORM)
    with m.If(~gathers & form.matches(*lacking)):
        m.d.comb += found.source.eq(ChannelSource.MISSING)
    with m.If(absent):
        m.d.comb += found.source.eq(ChannelSource.ZERO)
    return found


class ElementWords(wiring.Component):
    """Converts a lane's raw words to channels. Combinational.

    A number of 8 bits is converted as 16 bits, itself twice, which is the same fraction of 1.

    Members
    -------
    raw : ``In(WORDS)``
        The words of lines that hold the channels.
    conversions : ``In(ArrayLayout(CONVERSION, 4))``
    words : ``Out(WORDS)``
    """

    raw: In(WORDS)
    conversions: In(data.ArrayLayout(CONVERSION, CHANNELS))
    words: Out(WORDS)

    latency = 0

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.unorm = unorm = GatedStateless(UnormWords())
        kinds = [Value.cast(each.source) for each in self.conversions]
        m.d.comb += unorm.wanted.eq(Cat(kind == ChannelSource.UNORM.value for kind in kinds).any())
        for channel, (each, kind) in enumerate(zip(self.conversions, kinds, strict=True)):
            raw = self.raw[channel]
            halves = (raw[:_UNORM_BITS], raw[_UNORM_BITS:])
            bytes_ = (raw.word_select(channel, BYTE_BITS), raw[:BYTE_BITS])
            numbers = Array([*halves, *(Cat(byte, byte) for byte in bytes_)])
            values = Array([raw, unorm.words[channel], Const(_MISSING[channel], len(raw)), Const(0, len(raw))])
            m.d.comb += [
                unorm.numbers[channel].eq(numbers[Value.cast(each.bits)]),
                self.words[channel].eq(values[kind]),
            ]
        return m


class ElementBytes(wiring.Component):
    """Converts a lane's words to the bytes of an element, from its first one on.

    Throughput is one element in each cycle. Latency is `alignment` + `result` of the configuration.

    Members
    -------
    words : ``In(WORDS)``
    mask : ``In(4)``
        Channels to be stored; those that the format lacks are dropped.
    format : ``In(DataFormat)``
    bytes : ``Out(128)``
    byte_mask : ``Out(16)``
        Bytes that are written; none after the element's end.
    """

    def __init__(self, config: PipelineConfig) -> None:
        self._config = config
        self.latency = config.alignment + config.result
        super().__init__(
            {
                "words": In(WORDS),
                "mask": In(CHANNELS),
                "format": In(DataFormat),
                "bytes": Out(ELEMENT_BYTES * BYTE_BITS),
                "byte_mask": Out(ELEMENT_BYTES),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.unorm16 = unorm16 = ToUnorm(_UNORM_BITS, self._config)
        m.d.comb += unorm16.word.eq(self.words[0])
        bytes_ = []
        for channel in range(CHANNELS):
            m.submodules[f"unorm8_{channel}"] = unorm8 = ToUnorm(BYTE_BITS, self._config)
            m.d.comb += unorm8.word.eq(self.words[channel])
            bytes_.append(unorm8.result)
        format_bits, mask, words = (
            delay(m, value, self.latency) for value in (Value.cast(self.format), self.mask, Value.cast(self.words))
        )
        numbers = {DataFormat.UINT16_1: unorm16.result, DataFormat.UINT8_4: Cat(bytes_)}
        with m.Switch(format_bits):
            for code, shape in ELEMENTS.items():
                with m.Case(code.value):
                    m.d.comb += [
                        self.bytes.eq(numbers.get(code, words)),
                        self.byte_mask.eq(Cat(bit.replicate(shape.channel_bytes) for bit in mask[: shape.channels])),
                    ]
        return m

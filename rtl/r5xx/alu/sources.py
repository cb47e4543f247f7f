"""Sources of ALU instructions: temporaries, constants and inline constants of three addresses for each unit.

Source: CTM Guide pp. 26-27; R5xx register reference, US_ALU_RGB_ADDR.
"""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, enum, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import LINE_BEATS, ConstantBank
from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.constants.loader import CONSTANT_WRITE, LINES, miss_layout
from ctm.rtl.dpp.registers.file import register_address_layout
from ctm.rtl.dpp.registers.placement import ALLOCATION, Placement
from ctm.rtl.dpp.wavefronts.scheduling import wave_bits
from ctm.rtl.fp.number import BIAS, FRACTION_BITS
from ctm.rtl.isa.limits import CHANNELS, FLOAT_CONSTANTS, WORD_BITS
from ctm.rtl.isa.r5xx.instruction import ADDRESS_INLINE, ALPHA_ADDR, RGB_ADDR
from ctm.rtl.isa.r5xx.limits import ALU_SOURCES, LOOP_INDEX_BITS, SCALAR
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.lib.ram import BlockRam
from ctm.rtl.r5xx.addressing import register_number
from ctm.rtl.r5xx.entries import ALU_ENTRY, VECTOR

_CHANNELS = {"rgb": range(SCALAR), "alpha": range(SCALAR, CHANNELS)}
_MANTISSA_BITS = 3
_INDEX_BITS = (FLOAT_CONSTANTS - 1).bit_length()
_BEAT_BITS = (LINE_BEATS - 1).bit_length()
FLOAT_LINES = 2 * ALU_SOURCES
"""Lines that one instruction may need."""


class _Kind(enum.Enum, shape=2):
    NOTHING = 0
    TEMPORARY = 1
    CONSTANT = 2
    INLINE = 3


def inline_word(m: Module, code: Value) -> Signal:
    """The float32 word of an inline constant: (8 + mantissa) * 2^(exponent - 10), with exponent 0 denormal."""
    mantissa, exponent = code[:_MANTISSA_BITS], code[_MANTISSA_BITS:]
    word = Signal(WORD_BITS, name="inline")
    bias = BIAS - 10 + _MANTISSA_BITS
    m.d.comb += word.eq(Cat(Const(0, FRACTION_BITS - _MANTISSA_BITS), mantissa, (exponent + bias)[:8]))
    with m.If(exponent == 0):
        m.d.comb += word.eq(0)
        for bit in range(_MANTISSA_BITS):
            # The highest set bit becomes the hidden one; the bits below it move up.
            fraction = Cat(Const(0, FRACTION_BITS - bit), mantissa[:bit])
            with m.If(mantissa[bit]):
                m.d.comb += word.eq(Cat(fraction, Const(BIAS - 9 + bit, 8)))
    return word


class Sources(wiring.Component):
    """Gives the sources of all lanes, or of a beat's, a cycle after the instruction.

    One instruction per cycle. Six copies of the float constants, because each address may name another one.

    Members
    -------
    entry : ``In(ALU_ENTRY)``
    wave : ``In``
    loop_index : ``In(9)``
    allocation : ``In(ALLOCATION)``
    loaded : ``In(64)``
        Lines of float constants that are valid.
    write : ``In(CONSTANT_WRITE)``
    rgb_addresses, alpha_addresses : ``Out(ArrayLayout(register_address_layout(config), 3))``
    temporaries : ``In``
        The register file's response, a cycle later.
    lines : ``Out(ArrayLayout(LINE, 6))``
        Lines that the instruction needs; `missing` if one is not loaded.
    missing : ``Out(1)``
    sources : ``Out(ArrayLayout(ArrayLayout(VECTOR, 3), lanes))``
    error : ``Out(1)``
        A constant that the instruction needs had an error response; with `sources`.
    """

    def __init__(self, config: ArrayConfig) -> None:
        self._config = config
        addresses = data.ArrayLayout(register_address_layout(config), ALU_SOURCES)
        vectors = data.ArrayLayout(data.ArrayLayout(VECTOR, ALU_SOURCES), config.at_once)
        super().__init__(
            {
                "entry": In(ALU_ENTRY),
                "wave": In(wave_bits(config)),
                "loop_index": In(LOOP_INDEX_BITS),
                "allocation": In(ALLOCATION),
                "loaded": In(LINES[ConstantBank.FLOAT]),
                "write": In(CONSTANT_WRITE),
                "rgb_addresses": Out(addresses),
                "alpha_addresses": Out(addresses),
                "temporaries": In(vectors),
                "lines": Out(miss_layout(FLOAT_LINES)["lines"].shape),
                "missing": Out(1),
                "sources": Out(vectors),
                "error": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        placement = Placement(m, self._config, self.wave, self.allocation)
        missing, error = [], []
        units = (("rgb", RGB_ADDR(self.entry.words[1]), self.entry.rgb_use, self.rgb_addresses),
                 ("alpha", ALPHA_ADDR(self.entry.words[2]), self.entry.alpha_use, self.alpha_addresses))  # fmt: skip
        for number, (unit, word, use, addresses) in enumerate(units):
            for source in range(ALU_SOURCES):
                address, relative = word[f"addr{source}"], word[f"addr{source}_rel"]
                is_constant = word[f"addr{source}_const"]
                register = register_number(m, address[:-1], relative, self.loop_index)
                m.d.comb += addresses[source].eq(placement.address(register))
                index = Signal(_INDEX_BITS, name=f"{unit}_index_{source}")
                m.d.comb += index.eq(address + Mux(relative, self.loop_index, 0))
                kind = Signal(_Kind, name=f"{unit}_kind_{source}")
                with m.If(is_constant):
                    m.d.comb += kind.eq(_Kind.CONSTANT)
                with m.Elif(address[ADDRESS_INLINE.bit_length() - 1]):
                    m.d.comb += kind.eq(_Kind.INLINE)
                with m.Elif(placement.exists(register)):
                    m.d.comb += kind.eq(_Kind.TEMPORARY)

                line = self.lines[ALU_SOURCES * number + source]
                m.d.comb += [
                    line.needed.eq(use[source] & is_constant),
                    line.bank.eq(ConstantBank.FLOAT),
                    line.line.eq(index[_BEAT_BITS:]),
                ]
                missing.append(line.needed & ~self.loaded.bit_select(line.line, 1))
                constant, is_error = self._constant(m, unit, source, index)
                error.append(delay(m, line.needed) & is_error)
                inline = delay(m, inline_word(m, address[:-1]))
                self._assemble(m, unit, source, delay(m, kind), constant, inline)
        m.d.comb += [self.missing.eq(Cat(missing).any()), self.error.eq(Cat(error).any())]
        return m

    def _constant(self, m: Module, unit: str, source: int, index: Value) -> tuple[data.View, Value]:
        """Words of a constant, by channel, and whether it had an error response; a cycle later."""
        channels = _CHANNELS[unit]
        shape = data.StructLayout({"words": data.ArrayLayout(WORD_BITS, len(channels)), "error": 1})
        memory = BlockRam(shape, FLOAT_CONSTANTS)
        m.submodules[f"{unit}_constants_{source}"] = memory
        write, read, beat = memory.write_port(), memory.read_port(), self.write
        m.d.comb += [
            read.addr.eq(index),
            write.addr.eq(Cat(beat.beat, beat.line)),
            write.en.eq(beat.valid & (beat.bank == ConstantBank.FLOAT)),
            write.data.error.eq(beat.error),
            *(write.data.words[position].eq(beat.words[channel]) for position, channel in enumerate(channels)),
        ]
        return read.data.words, read.data.error

    def _assemble(self, m: Module, unit: str, source: int, kind: Value, constant: data.View, inline: Value) -> None:
        """The source's words for every lane."""
        for lane in range(self._config.at_once):
            for position, channel in enumerate(_CHANNELS[unit]):
                word = self.sources[lane][source][channel]
                with m.Switch(kind):
                    with m.Case(_Kind.TEMPORARY):
                        m.d.comb += word.eq(self.temporaries[lane][source][channel])
                    with m.Case(_Kind.CONSTANT):
                        m.d.comb += word.eq(constant[position])
                    with m.Case(_Kind.INLINE):
                        m.d.comb += word.eq(inline)

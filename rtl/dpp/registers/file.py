"""Temporaries of all resident wavefronts, in block RAM.

Each memory has one write and one read port, and holds one field of the registers. Replication gives one read port for
each operand of an instruction and one for fetches. Banking gives two writes: a wavefront's temporaries are all in one
bank, so a result and a fetch are written in one cycle if their banks differ. In one bank the result has priority,
because it cannot stall.

Temporaries of a wavefront that starts are invalidated together: a register that is not valid reads 0. The first write
to such a row sets all of it, words that are not enabled to 0.
"""

from typing import Any

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import ReadPort
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.interface import Interface
from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.beats import beat_bits, beat_fields, beat_members, beat_of
from ctm.rtl.dpp.shapes import Shapes
from ctm.rtl.isa.limits import CHANNELS, REGISTER_BITS, WORD_BITS
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.lib.ram import BlockRam
from ctm.rtl.lib.valid_bits import INDEX_BITS, ROWS_TOGETHER, SlicedValidBits, ValidBits

BANKS = 2
_VECTOR = data.ArrayLayout(WORD_BITS, CHANNELS)


def register_address_layout(config: ArrayConfig) -> data.StructLayout:
    """The address of a temporary: a bank, and an entry of it."""
    return data.StructLayout({"bank": (BANKS - 1).bit_length(), "entry": entry_bits(config)})


def entry_bits(config: ArrayConfig) -> int:
    """The width of a temporary's address in its bank."""
    return (config.temporaries // BANKS - 1).bit_length()


def write_layout(config: ArrayConfig) -> data.StructLayout:
    """A write to one temporary: its address, the words of all lanes and channels, and which of them are written.

    With `invalidates` all are, and the other temporaries of the wave slot in the same block of 32 are invalidated. The
    lanes are those of one beat.
    """
    return data.StructLayout(
        {
            "address": register_address_layout(config),
            **beat_fields(config),
            "words": data.ArrayLayout(data.ArrayLayout(WORD_BITS, CHANNELS), config.at_once),
            "enable": data.ArrayLayout(CHANNELS, config.at_once),
            "invalidates": 1,
        }
    )


class OperandRead(Interface):
    """Reads of an instruction's operands, seen from the port that executes it. They never stall.

    Members
    -------
    addresses : ``Out(ArrayLayout(ArrayLayout(register_address_layout(config), operands), register_fields))``
        Where each field's operands are.
    beat : ``Out``
        Whose lanes; only if there are several beats.
    operands : ``In(ArrayLayout(ArrayLayout(ArrayLayout(32, 4), operands), lanes))``
        Those of each lane, a cycle later; words that are written in the cycle of the read are undefined.
    """

    def __init__(self, config: ArrayConfig, shapes: Shapes) -> None:
        addresses = data.ArrayLayout(register_address_layout(config), shapes.operands)
        operands = data.ArrayLayout(_VECTOR, shapes.operands)
        super().__init__(
            {
                "addresses": Out(data.ArrayLayout(addresses, len(shapes.register_fields))),
                **beat_members(config, Out, "beat"),
                "operands": In(data.ArrayLayout(operands, config.at_once)),
            }
        )


class ResultWrite(Interface):
    """Writes of an instruction's results, seen from the port that executes it. They never stall.

    Members
    -------
    entries : ``Out(ArrayLayout(entry_bits(config), register_fields))``
        Where each field of the results goes in its bank.
    beat : ``Out``
        Whose lanes; only if there are several beats.
    words : ``Out(ArrayLayout(ArrayLayout(32, 4), lanes))``
    enable : ``Out(ArrayLayout(4, lanes))``
        What is written of them, in fields that have a bank.
    banks : ``Out(ArrayLayout(2, register_fields))``
        The bank in which each field may be written in this cycle, one-hot; a field without one keeps its registers.
    reserved : ``Out(2)``
        Banks to which results may be written in the next cycle, in which texture writes to them stall.
    """

    def __init__(self, config: ArrayConfig, shapes: Shapes) -> None:
        fields = len(shapes.register_fields)
        super().__init__(
            {
                "entries": Out(data.ArrayLayout(entry_bits(config), fields)),
                **beat_members(config, Out, "beat"),
                "words": Out(data.ArrayLayout(_VECTOR, config.at_once)),
                "enable": Out(data.ArrayLayout(CHANNELS, config.at_once)),
                "banks": Out(data.ArrayLayout(BANKS, fields)),
                "reserved": Out(BANKS),
            }
        )


class RegisterFile(wiring.Component):
    """Registers of all pixels of every resident wavefront.

    The lanes of one beat are read and written in a cycle; each beat has rows of its own. A read gives its data one
    cycle later; words that are written in the same cycle are undefined. Reads and the write of results never stall. A
    texture write stalls while results are written to the same bank.

    Members
    -------
    wave_exponent : ``In(8)``
        A wave slot has 2^n entries; one-hot, 2^0 first. Constant from two cycles before the first write.
    sources : ``In(OperandRead(config, shapes))``
    texture_source : ``In(register_address_layout(config))``
    texture_beat : ``In``
        Whose lanes; only if there are several beats.
    texture_words : ``Out(ArrayLayout(ArrayLayout(32, 4), lanes))``
    results : ``In(ResultWrite(config, shapes))``
    texture_write : ``In(stream.Signature(write_layout(config)))``
    busy : ``Out(2)``
        Banks that are reserved for results in this cycle.
    """

    def __init__(self, config: ArrayConfig, shapes: Shapes) -> None:
        self._config, self._fields = config, shapes.register_fields
        self._operands, self._copies = shapes.operands, shapes.operands + 1
        address, lanes = register_address_layout(config), config.at_once
        super().__init__(
            {
                "wave_exponent": In(REGISTER_BITS + 1),
                "sources": In(OperandRead(config, shapes)),
                "texture_source": In(address),
                "texture_words": Out(data.ArrayLayout(_VECTOR, lanes)),
                "results": In(ResultWrite(config, shapes)),
                "texture_write": In(stream.Signature(write_layout(config))),
                "busy": Out(BANKS),
                **beat_members(config, In, "texture_beat"),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        write = self.texture_write
        block = self._wave_rows(m)
        for number in range(len(self._fields)):
            banks = [self._bank(m, number, bank, self.results.banks[number][bank], block) for bank in range(BANKS)]
            self._connect_reads(m, number, banks)
        m.d.sync += self.busy.eq(self.results.reserved)
        m.d.comb += write.ready.eq(~self.busy.bit_select(write.payload.address.bank, 1))
        return m

    def _enables(self, enables: data.View, channels: range) -> Value:
        return Cat(enables[lane][channel] for lane in range(self._config.at_once) for channel in channels)

    def _words(self, words: data.View, channels: range) -> Value:
        return Cat(words[lane][channel] for lane in range(self._config.at_once) for channel in channels)

    def _wave_rows(self, m: Module) -> Value:
        """Rows of the texture write's wave slot, in its block, or of several beats in the line that the beat clears."""
        # Registered here: a program has it long before its first wavefront.
        entry, exponent = self.texture_write.payload.address.entry, delay(m, self.wave_exponent, name="exponent")
        if self._config.beats > 1:
            return self._wave_line(entry, exponent)
        rows = Signal(ROWS_TOGETHER)
        first = Signal(INDEX_BITS)
        with m.If(exponent[INDEX_BITS:].any()):
            m.d.comb += rows.eq(~0)
        for n in range(INDEX_BITS):
            with m.If(exponent[n]):
                m.d.comb += [rows.eq((1 << (1 << n)) - 1), first.eq(Cat(Const(0, n), entry[n:INDEX_BITS]))]
        block = Signal(ROWS_TOGETHER)
        m.d.comb += block.eq(Mux(self.texture_write.payload.invalidates, rows << first, 0))
        return block

    def _wave_line(self, entry: Value, exponent: Value) -> Value:
        """Rows of a wave slot in the line of their block that has the beat's number."""
        beat, found = beat_of(self._config, self.texture_write.payload), []
        for index in range(ROWS_TOGETHER // self._config.beats):
            row = Cat(Const(index, INDEX_BITS - len(beat)), beat)
            is_own = (exponent[n] & (row[n:] == entry[n:INDEX_BITS]) for n in range(INDEX_BITS))
            found.append(Cat(exponent[INDEX_BITS:], *is_own).any())
        return Cat(found)

    def _bank(self, m: Module, field: int, bank: int, result_writes: Value, block: Value) -> tuple[Any, list[ReadPort]]:
        """One bank of a field: the read ports of its copies, which have the same contents."""
        name, channels, write = self._fields[field].name, self._fields[field].channels, self.texture_write
        payload = write.payload
        texture_writes = write.valid & write.ready & (payload.address.bank == bank)
        config, width = self._config, self._config.at_once * len(channels)
        depth = config.temporaries // BANKS * config.beats
        entry = Mux(
            result_writes,
            Cat(self.results.entries[field], beat_of(config, self.results)),
            Cat(payload.address.entry, beat_of(config, payload)),
        )
        enable, texture_enable = Signal(width, name=f"{name}_enable_{bank}"), self._enables(payload.enable, channels)
        words = Signal(width * WORD_BITS, name=f"{name}_{bank}_words")
        entries, beats = config.temporaries // BANKS, config.beats
        written: Any = ValidBits(depth, self._copies) if beats == 1 else SlicedValidBits(entries, beats, self._copies)
        m.submodules[f"{name}_{bank}_written"] = written
        writes = Signal(name=f"{name}_writes_{bank}")
        m.d.comb += [
            words.eq(
                Mux(result_writes, self._words(self.results.words, channels), self._words(payload.words, channels))
            ),
            enable.eq(Mux(result_writes, self._enables(self.results.enable, channels), texture_enable)),
            # Of several beats each one is written, so that the row is valid when all have been.
            writes.eq((result_writes | texture_writes) & (enable.any() if beats == 1 else 1)),
            written.row.eq(entry),
            written.write.eq(writes),
        ]
        if beats == 1:
            m.d.comb += written.invalidates.eq(Mux(result_writes, 0, block))
        else:
            m.d.comb += [
                written.slice.eq(entry[-beat_bits(config) :]),
                written.clears.eq(~result_writes & payload.invalidates),
                written.invalidates.eq(block),
            ]
        row = data.ArrayLayout(WORD_BITS, width)
        contents, strobes = Signal(row, name=f"{name}_{bank}_contents"), Signal(width, name=f"{name}_{bank}_strobes")
        m.d.comb += [
            strobes.eq((enable | written.is_fresh.replicate(width)) & writes.replicate(width)),
            *(
                word.eq(words.word_select(number, WORD_BITS) & enable[number].replicate(WORD_BITS))
                for number, word in enumerate(contents)
            ),
        ]
        ports = []
        for copy in range(self._copies):
            memory = BlockRam(row, depth)
            m.submodules[f"{name}_{bank}_{copy}"] = memory
            port = memory.write_port(granularity=1)
            m.d.comb += [port.addr.eq(entry), port.data.eq(contents), port.en.eq(strobes)]
            ports.append(memory.read_port())
        return written, ports

    def _connect_reads(self, m: Module, field: int, banks: list[tuple[Any, list[ReadPort]]]) -> None:
        """Connect each copy's reader to the bank that it addressed in the cycle before."""
        name, channels, lanes = self._fields[field].name, self._fields[field].channels, range(self._config.at_once)
        beats = [beat_of(self._config, self.sources), beat_of(self._config, self, "texture_beat")]
        addresses = [
            *((address, beats[0]) for address in self.sources.addresses[field]),
            (self.texture_source, beats[1]),
        ]
        readers = [[self.sources.operands[lane][source] for lane in lanes] for source in range(self._operands)]
        readers.append([self.texture_words[lane] for lane in lanes])
        for copy, ((address, beat), vectors) in enumerate(zip(addresses, readers, strict=True)):
            row = Cat(address.entry, beat)
            words = Signal(len(lanes) * len(channels) * WORD_BITS, name=f"{name}_{copy}_words")
            chosen = delay(m, address.bank)
            for bank, (written, ports) in enumerate(banks):
                m.d.comb += [ports[copy].addr.eq(row), written.reads[copy].eq(row[: len(written.reads[copy])])]
                with m.If((chosen == bank) & written.written[copy]):
                    m.d.comb += words.eq(ports[copy].data)
            for lane, vector in enumerate(vectors):
                m.d.comb += [
                    vector[channel].eq(words.word_select(lane * len(channels) + index, WORD_BITS))
                    for index, channel in enumerate(channels)
                ]

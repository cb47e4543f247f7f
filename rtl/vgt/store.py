"""The vertex store: what programs exported of the vertices of a batch, and the records of shapes.

Source: docs/draws.md; docs/design/draws.md.
"""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from ctm.rtl.border.clients import WORDS
from ctm.rtl.border.draws import POSITION_VECTORS, RECORD_ROWS, PositionReader, record_write_layout
from ctm.rtl.border.shading import PARAMETERS, RECORDS, constant_layout, vector_write_layout, vertex_write_layout
from ctm.rtl.isa.limits import CHANNELS, WORD_BITS
from ctm.rtl.lib.ram import BlockRam, DistributedRam

_ROWS = data.StructLayout({"parameters": PARAMETERS, "positions": POSITION_VECTORS})
"""Vectors of a vertex that are written."""
_POSITION_BITS = ceil_log2(POSITION_VECTORS)
_PARAMETER_BITS = ceil_log2(PARAMETERS)
_RECORD_ROW_BITS = ceil_log2(RECORD_ROWS)


class VertexStore(wiring.Component):
    """Keeps vectors of vertices and rows of records. A vector that a vertex did not export is 0.

    Latency of a read is a cycle. A vertex is read after it is written, a record two cycles after.

    Members
    -------
    vertex : ``In(vertex_write_layout(vertices))``
        A vertex that is to be shaded: nothing of it is written.
    exported : ``In(vector_write_layout(vertices))``
        Not with `vertex`.
    record : ``In({valid, payload})``
        A row of a record.
    positions : ``In(PositionReader(vertices))``
    constant : ``In(constant_layout(vertices))``
    words : ``Out(WORDS)``
        The constant.
    """

    def __init__(self, vertices: int) -> None:
        self._vertices = vertices
        row = data.StructLayout({"valid": 1, "payload": record_write_layout(RECORDS)})
        super().__init__(
            {
                "vertex": In(vertex_write_layout(vertices)),
                "exported": In(vector_write_layout(vertices)),
                "record": In(row),
                "positions": In(PositionReader(vertices)),
                "constant": In(constant_layout(vertices)),
                "words": Out(WORDS),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        exported, constant = self.exported, self.constant
        vector = exported.vector
        m.submodules.written = written = DistributedRam(_ROWS, self._vertices)
        before, after = written.read(m, vector.entry), Signal(_ROWS)
        m.d.comb += after.eq(before)
        with m.If(vector.is_position):
            m.d.comb += after.positions.bit_select(vector.row[:_POSITION_BITS], 1).eq(1)
        with m.Else():
            m.d.comb += after.parameters.bit_select(vector.row, 1).eq(1)
        entry = Mux(self.vertex.valid, self.vertex.entry, vector.entry)
        written.write(m, entry, Mux(self.vertex.valid, 0, Value.cast(after)), self.vertex.valid | exported.valid)

        words, enable = Signal(WORDS), Signal(CHANNELS)
        is_first = ~Mux(
            vector.is_position,
            before.positions.bit_select(vector.row[:_POSITION_BITS], 1),
            before.parameters.bit_select(vector.row, 1),
        )
        # The first export of a vector writes all of it.
        m.d.comb += enable.eq(Mux(is_first, ~0, exported.mask))
        m.d.comb += [
            word.eq(Mux(exported.mask[channel], own, 0))
            for channel, (word, own) in enumerate(zip(words, exported.words, strict=True))
        ]
        positions, reader = Vectors(self._vertices * POSITION_VECTORS), self.positions
        parameters = Vectors(self._vertices * PARAMETERS)
        m.submodules.positions, m.submodules.parameters = positions, parameters
        for memory, row_bits, goes in (
            (positions, _POSITION_BITS, vector.is_position),
            (parameters, _PARAMETER_BITS, ~vector.is_position),
        ):
            m.d.comb += [
                memory.row.eq(Cat(vector.row[:row_bits], vector.entry)),
                memory.words.eq(words),
                memory.enable.eq(Mux(exported.valid & goes, enable, 0)),
            ]
        of_position, of_vertex = written.read(m, reader.entry), written.read(m, constant.entry)
        has_position, has_parameter, of_record = Signal(), Signal(), Signal()
        m.d.sync += [
            has_position.eq(of_position.positions.bit_select(reader.vector, 1)),
            has_parameter.eq(of_vertex.parameters.bit_select(constant.row, 1)),
            of_record.eq(constant.is_record),
        ]
        records = self._records(m)
        m.d.comb += [
            positions.read_row.eq(Cat(reader.vector, reader.entry)),
            parameters.read_row.eq(Cat(constant.row, constant.entry)),
            Value.cast(reader.words).eq(Mux(has_position, Value.cast(positions.read_words), 0)),
            Value.cast(self.words).eq(
                Mux(of_record, records, Mux(has_parameter, Value.cast(parameters.read_words), 0))
            ),
        ]
        return m

    def _records(self, m: Module) -> Value:
        """The row of a record that is read."""
        m.submodules.records = memory = BlockRam(WORDS, RECORDS << _RECORD_ROW_BITS)
        write, read, row = memory.write_port(), memory.read_port(), self.record.payload
        m.d.comb += [
            write.addr.eq(Cat(row.row, row.record)),
            write.data.eq(row.words),
            write.en.eq(self.record.valid),
            read.addr.eq(Cat(self.constant.row[:_RECORD_ROW_BITS], self.constant.record)),
        ]
        return Value.cast(read.data)


class Vectors(wiring.Component):
    """Vectors in block RAM, written by words. Latency of a read is a cycle.

    Members
    -------
    row, words, enable : ``In``
        A write of the words in `enable`.
    read_row : ``In``
    read_words : ``Out(WORDS)``
    """

    def __init__(self, rows: int) -> None:
        self._rows = rows
        super().__init__(
            {
                "row": In(range(rows)),
                "words": In(WORDS),
                "enable": In(CHANNELS),
                "read_row": In(range(rows)),
                "read_words": Out(WORDS),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        for channel in range(CHANNELS):
            m.submodules[f"words_{channel}"] = memory = BlockRam(WORD_BITS, self._rows)
            write, read = memory.write_port(), memory.read_port()
            m.d.comb += [
                write.addr.eq(self.row),
                write.data.eq(self.words[channel]),
                write.en.eq(self.enable[channel]),
                read.addr.eq(self.read_row),
                self.read_words[channel].eq(read.data),
            ]
        return m

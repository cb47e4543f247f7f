"""What a draw's programs begin with: a vertex's index, offsets of a primitive's vertices, or edge values of a pixel.

Source: docs/draws.md, programs.
"""

from amaranth import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import words_layout
from ctm.rtl.border.draws import CORNERS, EDGE, EDGE_BITS, SUBPIXEL_BITS
from ctm.rtl.border.shading import START_WORDS, Stage, is_of_threads, start_write_layout, vertex_write_layout
from ctm.rtl.config import MachineConfig
from ctm.rtl.fp.conversion import FromInteger
from ctm.rtl.isa.limits import CHANNELS, COLUMN_BITS, COORDINATE_BITS, QUAD, WORD_BITS
from ctm.rtl.lib.pipeline import delay_valid
from ctm.rtl.lib.ram import DistributedRam
from ctm.rtl.lib.views import record
from ctm.rtl.r700.partition import Partition, position
from ctm.rtl.r700.shapes import PROGRAM

_EDGES = (1, 2, 0)
"""The edges whose values R0 begins with, in the order of its channels."""
_VERTEX = data.StructLayout({"index": WORD_BITS, "primitive": WORD_BITS})


class ShadingStart(wiring.Component):
    """Gives the words of R0, and of R1 with pixels, pass by pass.

    Edge values of pixels take a cycle for each pixel of the wavefront, and five more.

    Members
    -------
    program : ``In(PROGRAM)``
    vertex : ``In(vertex_write_layout(vertices))``
    thread : ``In(start_write_layout(vertices))``
        With geometry programs.
    begins : ``In(1)``
        A wavefront begins in the next cycle.
    i, j : ``In``
        Its pair; of threads i is the number of the first one, which is a vertex's entry.
    edges : ``In(ArrayLayout(EDGE, 3))``
    number : ``In``
        The pass.
    second : ``In(1)``
        The words are to be those of R1.
    valid : ``Out(1)``
        It is a draw's program.
    ready : ``Out(1)``
        The words are known.
    has_second : ``Out(1)``
        The program begins with R1, too.
    words : ``Out(words_layout(lanes))``
    """

    def __init__(self, machine: MachineConfig) -> None:
        self._machine, self._partition = machine, Partition.of(machine.array)
        super().__init__(
            {
                "program": In(PROGRAM),
                "vertex": In(vertex_write_layout(machine.pipeline.vertices)),
                **(
                    {"thread": In(start_write_layout(machine.pipeline.vertices))}
                    if machine.pipeline.has_geometry
                    else {}
                ),
                "begins": In(1),
                "i": In(COLUMN_BITS),
                "j": In(COORDINATE_BITS),
                "edges": In(data.ArrayLayout(EDGE, CORNERS)),
                "number": In(self._partition.pass_bits),
                "second": In(1),
                "valid": Out(1),
                "ready": Out(1),
                "has_second": Out(1),
                "words": Out(words_layout(self._partition.lanes)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        stage, gprs = self.program.stage, self.program.gprs
        is_vertex = is_of_threads(stage)
        vertices, pairs, (edges, found) = self._vertices(m), self._pairs(m), self._edge_values(m)
        m.d.comb += [
            self.valid.eq(stage != Stage.DOMAIN),
            self.has_second.eq(((stage == Stage.PIXELS) | (stage == Stage.GEOMETRY)) & (gprs > 1)),
            self.ready.eq(~self.valid | is_vertex | found),
        ]
        for lane, words in enumerate(self.words):
            of_pixel = Mux(self.second, pairs[lane], edges[lane])
            m.d.comb += Value.cast(words).eq(Mux(is_vertex, vertices[lane], of_pixel))
        if self._machine.pipeline.has_geometry:
            threads = self._threads(m)
            with m.If(stage == Stage.GEOMETRY):
                for words, (first, second) in zip(self.words, threads, strict=True):
                    m.d.comb += Value.cast(words).eq(Mux(self.second, second, first))
        return m

    def _threads(self, m: Module) -> list[tuple[Value, Value]]:
        """R0 and R1 of a geometry program: offsets of vertices, and the primitive's number."""
        lanes, thread = self._partition.lanes, self.thread
        bits, number = (lanes - 1).bit_length(), thread.thread
        row = (self.i[bits:] + self.number)[: len(number) - bits]
        found: list[tuple[Value, Value]] = []
        for lane in range(lanes):
            words = []
            for word in range(START_WORDS):
                m.submodules[f"threads_{lane}_{word}"] = kept = DistributedRam(
                    WORD_BITS, self._machine.pipeline.vertices // lanes
                )
                enable = thread.valid & (thread.word == word) & (number[:bits] == lane)
                kept.write(m, number[bits:], thread.value, enable)
                words.append(kept.read(m, row))
            found.append((Cat(words[:CHANNELS]), Cat(words[CHANNELS:])))
        return found

    def _vertices(self, m: Module) -> list[Value]:
        """R0 of vertices: index, 0, primitive, instance. That of an emitted vertex is its dword in the ring."""
        lanes = self._partition.lanes
        bits, entry, vertex = (lanes - 1).bit_length(), self.vertex.entry, record(_VERTEX, name="vertex_written")
        row = (self.i[bits:] + self.number)[: len(entry) - bits]
        m.d.comb += [vertex.index.eq(self.vertex.index), vertex.primitive.eq(self.vertex.primitive)]
        words: list[Value] = []
        instance = Mux(self.program.stage == Stage.VERTICES, self.program.draw.instance, 0)
        for lane in range(lanes):
            m.submodules[f"vertices_{lane}"] = kept = DistributedRam(_VERTEX, self._machine.pipeline.vertices // lanes)
            kept.write(m, entry[bits:], vertex, self.vertex.valid & (entry[:bits] == lane))
            found = kept.read(m, row)
            words.append(Cat(found.index, Const(0, WORD_BITS), found.primitive, instance))
        return words

    def _pairs(self, m: Module) -> list[Value]:
        """R1 of pixels: the pair, as integers."""
        words: list[Value] = []
        before, rows_before = position(self._partition.first_pixel(self.number))
        for lane in range(self._partition.lanes):
            column, row = (Signal(WORD_BITS, name=f"{axis}_{lane}") for axis in ("column", "row"))
            m.d.comb += [
                column.eq(self.i + before + 2 * (lane // QUAD) + lane % 2),
                row.eq(self.j + rows_before + lane % QUAD // 2),
            ]
            words.append(Cat(column, row, Const(0, 2 * WORD_BITS)))
        return words

    def _edge_values(self, m: Module) -> tuple[list[Value], Value]:
        """R0 of pixels: edge values as words; and whether those of the pass are known."""
        partition, size = self._partition, self._partition.wavefront
        pixel, pixel_bits, bits = Signal(range(size + 1)), (size - 1).bit_length(), (partition.lanes - 1).bit_length()
        goes = pixel != size
        with m.If(self.begins):
            m.d.sync += pixel.eq(0)
        with m.Elif(goes):
            m.d.sync += pixel.eq(pixel + 1)
        column, row = position(pixel[:pixel_bits])
        results = []
        for entry, number in enumerate(_EDGES):
            edge, value = self.edges[number], Signal(signed(EDGE_BITS), name=f"value_{number}")
            m.d.sync += value.eq(edge.value + ((Mux(row, edge.dx, 0) - edge.dy * column) << SUBPIXEL_BITS))
            m.submodules[f"float_{entry}"] = conversion = FromInteger(EDGE_BITS)
            m.d.comb += conversion.number.eq(value)
            results.append(conversion.result)
        # What a wavefront before it left in the pipeline is as old as its last pixel.
        arrives = delay_valid(m, Cat(goes & ~self.begins, pixel[:pixel_bits]), 1 + FromInteger.latency)[-1]
        known = Signal(range(size + 1), name="known")
        with m.If(self.begins):
            m.d.sync += known.eq(0)
        with m.Elif(arrives[0]):
            m.d.sync += known.eq(known + 1)
        words: list[Value] = []
        for lane in range(partition.lanes):
            m.submodules[f"edges_{lane}"] = kept = DistributedRam(WORD_BITS * len(results), partition.passes)
            kept.write(m, arrives[1 + bits :], Cat(results), arrives[0] & (arrives[1 : 1 + bits] == lane))
            words.append(Cat(kept.read(m, self.number), Const(0, WORD_BITS)))
        return words, known[bits:] > self.number

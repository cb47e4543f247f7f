"""Executes the micro-ops of fetch clauses and exports.

Source: R700-Family Instruction Set Architecture, chapter 5 and section 3.4; docs/design/r700-core.md.
"""

from collections.abc import Mapping
from functools import reduce
from operator import or_

from amaranth import Array, Cat, Module, Mux, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ctm.rtl.border.buffers import EXTENT
from ctm.rtl.border.clients import uncached_write_layout
from ctm.rtl.border.shading import FetchShading
from ctm.rtl.config import MachineConfig
from ctm.rtl.dpp.program import described
from ctm.rtl.dpp.registers.outputs import output_write_layout
from ctm.rtl.dpp.wavefronts.scheduling import wave_bits
from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.lib.clock_gating import Gated
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.lib.ram import DistributedRam
from ctm.rtl.lib.views import record
from ctm.rtl.r700.border.constants import ConstantPort
from ctm.rtl.r700.border.fetch_clause import FetchStart
from ctm.rtl.r700.border.registers import register_words_layout
from ctm.rtl.r700.fetch.control import FetchControl
from ctm.rtl.r700.fetch.finders.areas import AreaAddresses
from ctm.rtl.r700.fetch.finders.constants import ROWS, ConstantFetch
from ctm.rtl.r700.fetch.finders.scaling import CoordinateScaling, coordinate
from ctm.rtl.r700.fetch.finders.share import LocalShare
from ctm.rtl.r700.fetch.finders.thread_items import ThreadItems
from ctm.rtl.r700.fetch.finders.vertices import VertexAddresses
from ctm.rtl.r700.fetch.micro_op import executed_layout, micro_op_layout
from ctm.rtl.r700.fetch.selection import PixelSelection
from ctm.rtl.r700.fetch.writers.exports import OutputExport
from ctm.rtl.r700.fetch.writers.sending import PassPort, PassSender
from ctm.rtl.r700.fetch.writers.vectors import VectorExport
from ctm.rtl.r700.fetch.writers.writing import MemoryWriter
from ctm.rtl.r700.partition import Partition, segment_outputs
from ctm.rtl.r700.registers.file import masked
from ctm.rtl.r700.shapes import AREA_WORD_BITS, AREAS, PROGRAM, SHAPES, UNIT_ADDRESS_BITS


class FetchExecutor(wiring.Component):
    """Executes micro-ops one after the other, each on a slice of a wavefront.

    `FetchControl` starts the finder of the task, if it has one, and then the writer; it has the cycles from one
    micro-op to the next, each finder and writer those of its work. All of them read the source through one
    `PixelSelection`. The elements that a finder finds are held by `CoordinateScaling`, where the writer reads them.

    Requests and writes of memory leave in the order of the micro-ops. A micro-op is executed when the last of them is
    accepted; it does not wait for responses.

    Members
    -------
    program : ``In(PROGRAM)``
    micro_op : ``In(stream.Signature(micro_op_layout(config.array)))``
    source : ``In(register_words_layout(Partition.of(config.array)))``
        The source of the micro-op that is accepted in the same cycle, unless it `keeps` the previous one.
    drained : ``In(threads)``
        Wave slots without a fetch or a write in flight.
    works, failed, executed : ``Out(1)``, ``Out(1)``, ``Out(executed_layout(config.array))``
        As those of `FetchControl`.
    begin : ``Out(UNIT_ADDRESS_BITS)``
        The address of the current micro-op's instruction.
    passes : ``Out(PassPort(config))``
    write : ``Out(stream.Signature(uncached_write_layout(...)))``
        As that of `MemoryWriter`.
    outputs : ``Out(output_write_layout(segment_outputs(config.array), SHAPES))``
        As the `write` of `OutputExport`.
    start : ``In(FetchStart(config.array))``
    constants : ``Out(ConstantPort(ROWS))``
    shading : ``Out(FetchShading(config))``
        Where the machine draws.
    """

    def __init__(self, config: MachineConfig) -> None:
        array, partition = config.array, Partition.of(config.array)
        self._machine, self._partition = config, partition
        self.control, self.selection = FetchControl(config), PixelSelection(partition)
        self.scaling = CoordinateScaling(partition, config.arithmetic)
        self.sender, self.writer = PassSender(config), MemoryWriter(config)
        draws, geometry = config.pipeline.draws, config.pipeline.has_geometry
        write = uncached_write_layout(array.at_once, wave_bits(array), len(AREAS), memory=geometry)
        super().__init__(
            {
                "program": In(PROGRAM),
                "micro_op": In(stream.Signature(micro_op_layout(array))),
                "source": In(register_words_layout(partition)),
                "drained": In(array.threads),
                "works": Out(1),
                "failed": Out(1),
                "executed": Out(executed_layout(array)),
                "begin": Out(UNIT_ADDRESS_BITS),
                "passes": Out(PassPort(config)),
                "write": Out(stream.Signature(write)),
                "outputs": Out(output_write_layout(segment_outputs(array), SHAPES)),
                "start": In(FetchStart(array)),
                "constants": Out(ConstantPort(ROWS)),
                **({"shading": Out(FetchShading(config))} if draws else {}),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.control, m.submodules.selection = self.control, self.selection
        extent, first = self._connect_control(m), self._first_number(m)
        self._connect_scaling(m, extent)
        self._connect_sender(m, extent)
        self._connect_export(m)
        self._connect_writer(m)
        finders: dict[str, wiring.Component] = {
            "constants": self._connect_constants(m),
            "share": self._connect_share(m),
            "areas": self._connect_areas(m, first),
        }
        pixels: dict[str, Value] = {"scaling": self.scaling.wanted, "write": self.writer.pixel}
        if self._machine.pipeline.draws:
            finders["vertices"] = self._connect_vertices(m)
            pixels["vectors"] = self._connect_vectors(m, first).vertex
        if self._machine.pipeline.has_geometry:
            finders["items"] = self._connect_items(m, first)
        for name, finder in finders.items():
            self._connect_finder(m, name, finder)
            pixels[name] = finder.walk.wanted
        self._select_pixels(m, pixels)
        return m

    def _connect_control(self, m: Module) -> data.View:
        """The current micro-op, its source, and its input. Returns the extent of the input."""
        control, offered, selection = self.control, self.micro_op, self.selection
        connect(m, flipped(self.micro_op), control.micro_op)
        source: data.View = record(selection.source.shape(), name="source", reset_less=True)
        extent = record(EXTENT, name="extent", reset_less=True)
        words, valid = self.source.words, self.source.valid
        with m.If(offered.valid & offered.ready):
            m.d.sync += Value.cast(extent).eq(Array(map(Value.cast, self.program.inputs))[offered.payload.fetch.input])
            with m.If(~offered.payload.keeps):
                m.d.sync += [source[channel].eq(masked(words[channel], valid[channel])) for channel in range(CHANNELS)]
        m.d.comb += [
            selection.source.eq(source),
            control.drained.eq(self.drained),
            self.works.eq(control.works),
            self.failed.eq(control.failed),
            self.executed.eq(control.executed),
            self.begin.eq(control.current.clause.begin),
        ]
        return extent

    def _first_number(self, m: Module) -> Value:
        """The number of the current wavefront's first pixel."""
        current, starting = self.control.current, self.start.first_number
        m.submodules.first_numbers = numbers = DistributedRam(AREA_WORD_BITS, self._machine.array.threads)
        numbers.write(m, starting.wave, starting.number, starting.valid)
        return Value.cast(numbers.read(m, current.clause.wave))

    def _select_pixels(self, m: Module, pixels: Mapping[str, Value]) -> None:
        """Select the pixel of the unit that works, if it reads single pixels; one unit works at a time."""
        starts, selection = self.control.starts, self.selection
        chosen = [Mux(starts[name], pixel, 0) for name, pixel in pixels.items()]
        m.d.comb += [
            selection.by_pixel.eq(Cat(starts[name] for name in pixels).any()),
            selection.pixel.eq(reduce(or_, chosen)),
        ]

    def _own(self) -> list[Value]:
        """The words of the selected pixel."""
        return [self.selection.own[channel] for channel in range(CHANNELS)]

    def _index(self) -> Value:
        """The selected pixel's first coordinate."""
        return coordinate(self._own(), self.control.current.fetch.coordinates[0])

    def _connect_finder(self, m: Module, name: str, finder: wiring.Component) -> None:
        """Start a finder, and store the elements that it finds."""
        walk, control, scaling = finder.walk, self.control, self.scaling
        m.d.comb += [walk.start.eq(control.starts[name]), control.dones[name].eq(walk.done)]
        with m.If(walk.valid):
            m.d.comb += [scaling.stores.eq(1), scaling.pixel.eq(walk.pixel), scaling.element.eq(walk.element)]

    def _connect_scaling(self, m: Module, extent: data.View) -> None:
        """Coordinates that are computed; the elements of other finders are stored with them."""
        control, scaling, selection = self.control, self.scaling, self.selection
        m.submodules.scaling = Gated(scaling, scaling.start | scaling.stores)
        m.d.comb += [
            scaling.start.eq(control.starts.scaling),
            control.dones.scaling.eq(scaling.done),
            scaling.fetch.eq(control.current.fetch),
            scaling.quad.eq(selection.quad),
            scaling.own.eq(selection.own),
            scaling.sizes[0].eq(described(extent).pitch),
            scaling.sizes[1].eq(described(extent).height),
        ]

    def _connect_constants(self, m: Module) -> ConstantFetch:
        """Elements of the float constants. A miss is registered."""
        current = self.control.current
        m.submodules.constants = constants = ConstantFetch(self._partition.slice)
        own, port = constants.port, self.constants
        m.d.comb += [
            constants.fetch.eq(current.fetch),
            constants.own.eq(self.selection.own),
            constants.executing.eq(current.clause.executing),
            port.row.eq(own.row),
            own.free.eq(port.free),
            own.words.eq(port.words),
            own.loaded.eq(port.loaded),
            own.error.eq(port.error),
            self.control.fails.eq(constants.is_error),
        ]
        m.d.sync += port.miss.eq(own.miss)
        return constants

    def _connect_share(self, m: Module) -> LocalShare:
        """The local data share."""
        current, selection, share = self.control.current, self.selection, LocalShare(self._machine.array)
        m.submodules.share = Gated(share, share.walk.start | share.clear.valid)
        connect(m, flipped(self.start.share), share.clear)
        m.d.comb += [
            share.rows.eq(self.program.share),
            share.wave.eq(current.clause.wave),
            share.fetch.eq(current.fetch),
            share.burst.eq(current.burst),
            share.slice.eq(current.slice),
            share.quad_written.eq(selection.quad_written),
            share.own.eq(selection.own),
            share.executing.eq(current.clause.executing),
            share.active.eq(current.clause.active),
        ]
        return share

    def _connect_areas(self, m: Module, first: Value) -> AreaAddresses:
        """Addresses of elements in areas. Slices are beside each other in the domain, two rows high."""
        current, areas = self.control.current, AreaAddresses(self._partition.slice)
        m.submodules.areas = Gated(areas, areas.walk.start)
        m.d.comb += [
            areas.program.eq(self.program),
            areas.access.eq(current.fetch.access),
            areas.burst.eq(current.burst),
            areas.index.eq(self._index()),
            areas.covered.eq(current.clause.covered),
            areas.first.eq(first + Value.cast(current.slice) * (self._partition.slice // 2)),
        ]
        return areas

    def _connect_sender(self, m: Module, extent: data.View) -> None:
        """Requests, and writes of registers that need none."""
        control, selection, sender, scaling = self.control, self.selection, self.sender, self.scaling
        m.submodules.sender = sender
        connect(m, sender.passes, flipped(self.passes))
        m.d.comb += [
            sender.start.eq(control.starts.send),
            control.dones.send.eq(sender.done),
            sender.current.eq(control.current),
            sender.program.eq(self.program),
            sender.gprs.eq(delay(m, self.program.gprs, name="gprs")),
            sender.extent.eq(extent),
            sender.words.eq(selection.words),
            sender.results.eq(scaling.results),
        ]

    def _connect_export(self, m: Module) -> None:
        """Writes of output registers. The export selects its pass while it works, else the sender."""
        control, selection = self.control, self.selection
        m.submodules.export = export = OutputExport(self._machine.array)
        is_export, current = Value.cast(control.starts.export), control.current
        m.d.comb += [
            export.start.eq(is_export),
            control.dones.export.eq(export.done),
            export.current.eq(current),
            export.takes_conditional.eq(self.program.conditional_from_program),
            export.written.eq(selection.written),
            selection.selects.eq(
                Mux(current.clause.exports, Value.cast(export.selects), Value.cast(current.fetch.selects))
            ),
            selection.pass_number.eq(Mux(is_export, export.pass_number, self.sender.pass_number)),
            self.outputs.eq(export.write),
        ]

    def _connect_writer(self, m: Module) -> None:
        """Writes of memory. The writer reads the elements of its pixel's pass while it works, else the sender."""
        control, writer, scaling = self.control, self.writer, self.scaling
        m.submodules.writer = writer
        is_write = control.starts.write
        connect(m, writer.write, flipped(self.write))
        pass_of_pixel = writer.pixel >> (self._partition.lanes - 1).bit_length()
        m.d.comb += [
            writer.start.eq(is_write),
            control.dones.write.eq(writer.done),
            writer.current.eq(control.current),
            writer.stage.eq(self.program.stage),
            writer.own.eq(self.selection.own),
            writer.results.eq(scaling.results),
            scaling.pass_number.eq(Mux(is_write, pass_of_pixel, self.sender.pass_number)),
        ]

    def _connect_vertices(self, m: Module) -> VertexAddresses:
        """Elements in vertex buffers and rings."""
        vertices = VertexAddresses(self._partition.slice)
        m.submodules.vertices = Gated(vertices, vertices.walk.start | vertices.write.valid)
        m.d.comb += [
            vertices.write.eq(self.shading.buffer),
            vertices.fetch.eq(self.control.current.fetch.vertex),
            vertices.first_instance.eq(self.program.draw.first_instance),
            vertices.index.eq(self._index()),
        ]
        return vertices

    def _connect_vectors(self, m: Module, first: Value) -> VectorExport:
        """Exports of vectors."""
        m.submodules.vectors = vectors = VectorExport(self._machine)
        m.d.comb += [
            vectors.start.eq(self.control.starts.vectors),
            self.control.dones.vectors.eq(vectors.done),
            vectors.current.eq(self.control.current),
            vectors.program.eq(self.program),
            vectors.first.eq(first),
            vectors.own.eq(self.selection.own),
            self.shading.exported.eq(vectors.exported),
        ]
        return vectors

    def _connect_items(self, m: Module, first: Value) -> ThreadItems:
        """Elements in the items of threads."""
        m.submodules.items = items = ThreadItems(self._machine)
        m.d.comb += [
            items.program.eq(self.program),
            items.current.eq(self.control.current),
            items.first.eq(first),
            items.index.eq(self._index()),
            items.vertex.eq(self.shading.vertex),
            items.writes.eq(self.writer.is_item),
            self.shading.streams.eq(items.streams),
        ]
        return items

"""Sends the requests of a fetch instruction, or writes results that need none, pass by pass.

Source: R700-Family Instruction Set Architecture, chapter 5; docs/design/r700-core.md.
"""

from dataclasses import dataclass

from amaranth import Array, Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.buffers import EXTENT
from ctm.rtl.border.clients import fetch_request_layout
from ctm.rtl.border.interface import Interface
from ctm.rtl.border.shading import Stage
from ctm.rtl.config import MachineConfig
from ctm.rtl.dpp.core_border import fetch_tag_layout
from ctm.rtl.dpp.program import described
from ctm.rtl.fp.number import ONE
from ctm.rtl.isa.limits import CHANNELS, INPUTS, WORD_BITS
from ctm.rtl.isa.r700.components import ComponentSelect
from ctm.rtl.lib.clock_gating import Gated
from ctm.rtl.lib.views import record
from ctm.rtl.r700.border.registers import pass_write_layout, target_layout
from ctm.rtl.r700.fetch.finders.areas import ELEMENT_ADDRESS, pair
from ctm.rtl.r700.fetch.finders.scaling import coordinate
from ctm.rtl.r700.fetch.finders.vertices import VERTEX_ELEMENT, word_of
from ctm.rtl.r700.fetch.micro_op import micro_op_layout
from ctm.rtl.r700.fetch.operation import INPUT_FETCHES, Task, is_among
from ctm.rtl.r700.fetch.returned import fetch_record_layout, instruction_in
from ctm.rtl.r700.fetch.selection import pass_words_layout
from ctm.rtl.r700.fetch.writers.linear import LinearCoordinates
from ctm.rtl.r700.fetch.writers.texel import TexelIndex
from ctm.rtl.r700.partition import Partition
from ctm.rtl.r700.registers.addressing import register_address
from ctm.rtl.r700.shapes import AREAS, PROGRAM, SHAPES

_FIRST, _MASK = ComponentSelect.X.value, ComponentSelect.MASK.value


@dataclass(frozen=True, kw_only=True, eq=False)
class _Pass:
    """What the pass that is sent reads."""

    component: Value
    """The component that is requested, of an area or a vertex buffer."""
    is_area: Value
    is_vertex: Value
    is_absent: Value
    """The input does not exist."""


class PassPort(Interface):
    """The passes that are sent, seen from their sender: each is a request, or a write that needs none.

    Members
    -------
    entry : ``In(array.fetch_entry_bits)``
        From the scoreboard: the entry of the next fetch of the wave slot in `record`, in the same cycle.
    full : ``In(threads)``
        From the scoreboard: wave slots that may have no other fetch in flight.
    request : ``Out(stream.Signature(fetch_request_layout(...)))``
    record : ``Out(fetch_record_layout(array, draws))``
        With `valid`: `request` is accepted in this cycle.
    direct : ``Out(stream.Signature(pass_write_layout(array)))``
        A write of registers that is no response.
    """

    def __init__(self, config: MachineConfig) -> None:
        array, draws = config.array, config.pipeline.draws
        request = fetch_request_layout(array.at_once, fetch_tag_layout(array, SHAPES), len(AREAS), memory=draws)
        super().__init__(
            {
                "entry": In(array.fetch_entry_bits),
                "full": In(array.threads),
                "request": Out(stream.Signature(request)),
                "record": Out(fetch_record_layout(array, draws=draws)),
                "direct": Out(stream.Signature(pass_write_layout(array))),
            }
        )


class PassSender(wiring.Component):
    """Sends a micro-op pass by pass, in order: requests of its elements, or writes of results that need none.

    A step takes a cycle, more while its request or write is not accepted. A pass has one step. Of an area or a vertex
    buffer it has one that writes what absent components read, and then one for each component, which requests it in the
    lanes in which it exists. A step without a lane sends nothing, and takes its cycle. ELEMENT takes 33 cycles more for
    each pass, for the division of its elements' numbers, or one more if no pixel of the pass executes.

    A request waits while its wave slot has as many fetches in flight as it may have.

    Members
    -------
    start : ``In(1)``
        High from the first cycle to that of `done`.
    current : ``In(micro_op_layout(config.array))``
    program : ``In(PROGRAM)``
    gprs : ``In(8)``
        The program's, delayed by a cycle.
    extent : ``In(EXTENT)``
        The input that is fetched.
    pass_number : ``Out(partition.slice_pass_bits)``
        The pass whose `words` and `results` are read in the same cycle.
    words : ``In(pass_words_layout(lanes))``
        The source of the pass.
    results : ``In(pass_words_layout(lanes))``
        The elements that a finder has found for the pixels of the pass.
    passes : ``Out(PassPort(config))``
    done : ``Out(1)``
        The last cycle: the last step's.
    """

    def __init__(self, config: MachineConfig) -> None:
        self._config = config.array
        self._draws = config.pipeline.draws
        self._partition = partition = Partition.of(config.array)
        words = pass_words_layout(partition.lanes)
        super().__init__(
            {
                "start": In(1),
                "current": In(micro_op_layout(config.array)),
                "program": In(PROGRAM),
                "gprs": In(PROGRAM["gprs"].shape),
                "extent": In(EXTENT),
                "pass_number": Out(partition.slice_pass_bits),
                "words": In(words),
                "results": In(words),
                "passes": Out(PassPort(config)),
                "done": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        fetch, count = self.current.fetch, Signal(range(CHANNELS + 1), name="component_count")
        is_vertex = (fetch.task == Task.VERTEX) if self._draws else Const(0)
        is_area, component = fetch.task == Task.AREA, (count - 1)[:2]
        sent = _Pass(
            component=component,
            is_area=is_area,
            is_vertex=is_vertex,
            is_absent=is_among(fetch.task, INPUT_FETCHES) & (described(self.extent).pitch == 0),
        )
        m.submodules.linear = Gated(linear := LinearCoordinates(self._config.at_once), linear.start)
        by_word = is_area | is_vertex
        of_word = by_word & (count != 0)
        pixels = Signal(self._config.at_once, name="requesting")
        executing = self._of_pass(self.current.clause.executing)
        m.d.comb += pixels.eq(Mux(of_word, executing & self._inside(sent), executing))
        self._connect_target(m, sent, by_word, of_word, pixels)
        self._connect_request(m, sent, pixels)
        self._connect_indices(m, sent, linear)
        self._connect_words(m, sent)
        divided = Signal()
        """The numbers of the pass's elements are divided, or need not be."""
        sends, no_pixel = self.start & (divided | (fetch.task != Task.ELEMENT)), ~pixels.any()
        fetches = (is_among(fetch.task, INPUT_FETCHES) & ~sent.is_absent) | of_word
        goes, word_done, pass_done = Signal(name="goes"), Signal(), Signal()
        is_last_word = ~by_word | (count == Mux(is_vertex, fetch.vertex.channels, CHANNELS))
        is_last_pass = self.pass_number == self._partition.slice_passes - 1
        m.d.comb += [
            linear.start.eq(self.start & ~sends & ~no_pixel),
            self.passes.request.valid.eq(
                sends & fetches & ~no_pixel & ~self.passes.full.bit_select(self.current.clause.wave, 1)
            ),
            self.passes.direct.valid.eq(sends & ~fetches & executing.any()),
            goes.eq(self.passes.request.valid & self.passes.request.ready),
            self.passes.record.valid.eq(goes),
            word_done.eq(sends & (goes | (self.passes.direct.valid & self.passes.direct.ready) | no_pixel)),
            pass_done.eq(word_done & is_last_word),
            self.done.eq(pass_done & is_last_pass),
        ]
        with m.If(word_done):
            m.d.sync += count.eq(Mux(is_last_word, 0, count + 1))
        with m.If(pass_done):
            m.d.sync += self.pass_number.eq(Mux(is_last_pass, 0, self.pass_number + 1))
        m.d.sync += divided.eq(~pass_done & (divided | (self.start & (linear.done | no_pixel))))
        return m

    def _connect_target(self, m: Module, sent: _Pass, by_word: Value, of_word: Value, pixels: Value) -> None:
        """Drive the target of the pass's words, and what is kept of its fetch."""
        current, fetch = self.current.clause, self.current.fetch
        target: data.View = record(target_layout(self._config), name="target")
        found = register_address(
            m, self._config, fetch.destination + self.current.burst, current.loop_index, fetch.destination_relative,
            gprs=self.gprs, base=current.base,
        )  # fmt: skip
        tag, kept = self.passes.record.tag, self.passes.record.kept
        m.d.comb += [
            target.row.eq(found.row),
            target.exists.eq(found.exists),
            target.number.eq(self.pass_number),
            target.followed.eq(~by_word & self._is_followed()),
            *(
                own.eq(Mux(of_word, Mux(select == sent.component, _FIRST, _MASK), select))
                for own, select in zip(target.selects, fetch.selects, strict=True)
            ),
            target.enable.eq(pixels),
            self.passes.direct.payload.target.eq(target),
            tag.wave.eq(current.wave),
            tag.entry.eq(self.passes.entry),
            kept.target.eq(target),
            kept.instruction.eq(instruction_in(current.begin)),
        ]
        if self._draws:
            m.d.comb += [kept.converts.eq(sent.is_vertex), kept.element.eq(fetch.vertex.element)]

    def _connect_request(self, m: Module, sent: _Pass, pixels: Value) -> None:
        """Drive all of the request but the indices."""
        fetch, request = self.current.fetch, self.passes.request.payload
        # What programs pass on was written past the caches.
        of_ring = sent.is_vertex & (self.program.stage != Stage.VERTICES)
        area = Mux(sent.is_area, INPUTS + fetch.access.scratch, fetch.input)
        m.d.comb += [
            request.tag.eq(self.passes.record.tag),
            request.input.eq(Mux(sent.is_vertex, INPUTS + len(AREAS), area)),
            request.uncached.eq(sent.is_area | of_ring),
            request.fetch.eq(pixels),
        ]

    def _connect_words(self, m: Module, sent: _Pass) -> None:
        """Drive the words of a write that is no response: results, sizes, or what an absent word reads."""
        fetch, extent = self.current.fetch, described(self.extent)
        # Of vertices the last channel is 1 if the format does not have it; other absent words are 0.
        lacks_last = sent.is_vertex & (fetch.vertex.channels != CHANNELS)
        one = Mux(lacks_last, Mux(fetch.one_is_float, ONE, 1), 0)
        sizes = extent.pitch, extent.height, Const(1, WORD_BITS), Const(1, WORD_BITS)
        is_absent = sent.is_absent | sent.is_area | sent.is_vertex
        for channel in range(CHANNELS):
            absent = one if channel == CHANNELS - 1 else 0
            for lane in range(self._config.at_once):
                word = Mux(fetch.task == Task.SIZE, sizes[channel], self.results[channel][lane])
                m.d.comb += self.passes.direct.payload.words[lane][channel].eq(Mux(is_absent, absent, word))

    def _connect_indices(self, m: Module, sent: _Pass, linear: LinearCoordinates) -> None:
        """Drive the elements of the pass's lanes, or the current component of each in an area or a vertex buffer."""
        fetch, request, extent = self.current.fetch, self.passes.request.payload, described(self.extent)
        is_numbered = sent.is_area | (fetch.task == Task.ELEMENT) | sent.is_vertex
        m.d.comb += [linear.pitch.eq(extent.pitch), linear.limits.eq(extent.limits)]
        for lane, area in enumerate(self._area_elements()):
            words = [self.words[channel][lane] for channel in range(CHANNELS)]
            m.d.comb += linear.numbers[lane].eq(coordinate(words, fetch.coordinates[0]))
            of_area, of_number = pair(Value.cast(area), sent.component), (linear.x[lane], linear.y[lane])
            indices = [Mux(sent.is_area, own, other) for own, other in zip(of_area, of_number, strict=True)]
            if self._draws:
                address = self._vertex_elements()[lane].address
                *of_vertex, page, byte = word_of(address, sent.component, fetch.vertex.element.size)
                indices = [Mux(sent.is_vertex, own, index) for own, index in zip(of_vertex, indices, strict=True)]
                m.d.comb += [
                    request.page[lane].eq(Mux(sent.is_vertex, page, 0)),
                    self.passes.record.kept.bytes[lane].eq(byte),
                ]
            limits = extent.limits.width, extent.limits.height
            for axis, (target, limit) in enumerate(zip((request.x, request.y), limits, strict=True)):
                m.submodules[f"texel_{axis}_{lane}"] = texel = TexelIndex()
                plain, scaled = coordinate(words, fetch.coordinates[axis]), self.results[axis][lane]
                m.d.comb += [
                    texel.word.eq(Mux((fetch.task == Task.SAMPLE) & fetch.normalised[axis], scaled, plain)),
                    texel.integer.eq(fetch.task == Task.LOAD),
                    texel.offset.eq(fetch.offsets[axis]),
                    texel.limit.eq(limit),
                    target[lane].eq(Mux(is_numbered, indices[axis], texel.index)),
                ]

    def _of_pass(self, bits: Value) -> Value:
        """The lanes' bits of a bit of each pixel of the slice."""
        return bits.word_select(self.pass_number, self._config.at_once) if self._partition.slice_passes > 1 else bits

    def _is_followed(self) -> Value:
        """Whether a pixel executes in a later pass."""
        executing, lanes = Value.cast(self.current.clause.executing), self._config.at_once
        later = [executing[lanes * (number + 1) :].any() for number in range(self._partition.slice_passes)]
        return Value.cast(Array(later)[self.pass_number])

    def _inside(self, sent: _Pass) -> Value:
        """The lanes whose component exists, of an area or a vertex buffer."""
        of_area = Cat(each.inside.bit_select(sent.component, 1) for each in self._area_elements())
        return Mux(sent.is_vertex, Cat(each.inside for each in self._vertex_elements()), of_area)

    def _area_elements(self) -> list[data.View]:
        """The `ELEMENT_ADDRESS` of each lane of the pass."""
        first = self.results[0]
        lanes = range(self._config.at_once)
        return [data.View(ELEMENT_ADDRESS, first[lane][: ELEMENT_ADDRESS.size]) for lane in lanes]

    def _vertex_elements(self) -> list[data.View]:
        """The `VERTEX_ELEMENT` of each lane of the pass."""
        return [element_of(self.results, lane, VERTEX_ELEMENT) for lane in range(self._config.at_once)]


def element_of(results: data.View, lane: int, layout: data.Layout) -> data.View:
    """The element of a lane in a pass's results, from the lowest bit of its four words on."""
    words = Cat(results[channel][lane] for channel in range(CHANNELS))
    return data.View(layout, words[: layout.size])

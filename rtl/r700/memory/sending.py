"""Sends the requests of a fetch instruction, or writes results that need none, pass by pass.

Source: R700-Family Instruction Set Architecture, chapter 5; docs/design/r700-core.md.
"""

from typing import Any

from amaranth import Array, Cat, Const, Mux, Signal, Value
from amaranth.lib import data

from ctm.rtl.border.shading import Stage
from ctm.rtl.fp.number import ONE
from ctm.rtl.isa.limits import CHANNELS, INPUTS, WORD_BITS
from ctm.rtl.isa.r700.components import ComponentSelect
from ctm.rtl.r700.memory.areas import ELEMENT_ADDRESS, pair
from ctm.rtl.r700.memory.instruction import INPUT_FETCHES, Task, is_among
from ctm.rtl.r700.memory.returned import instruction_in
from ctm.rtl.r700.memory.scaling import coordinate
from ctm.rtl.r700.memory.texel import TexelIndex
from ctm.rtl.r700.registers.writing import target_layout
from ctm.rtl.r700.shapes import AREAS
from ctm.rtl.r700.vertices.addresses import VERTEX_ELEMENT, word_of

_FIRST, _MASK = ComponentSelect.X.value, ComponentSelect.MASK.value


def add_send(executor: Any) -> None:
    """Send a fetch, or write results that need none, pass by pass."""
    m, unit, fetch, current, lanes = (
        executor.m,
        executor.unit,
        executor.fetch,
        executor.current,
        executor.config.at_once,
    )
    described = executor.described
    found = executor.register_address(fetch.destination + executor.burst, fetch.destination_relative)
    request = unit.fetches.request
    reads_input, is_area = is_among(fetch.task, INPUT_FETCHES), fetch.task == Task.AREA
    is_vertex = (fetch.task == Task.VERTEX) if executor.draws else Const(0)
    by_word = is_area | is_vertex
    # What programs pass on was written past the caches.
    of_ring = is_vertex & (unit.program.stage != Stage.VERTICES)
    is_absent = reads_input & (described.pitch == 0)
    # All components of an area's elements are written as zeros; then those that exist come one by one.
    zeros = executor.component == 0
    component = (executor.component - 1)[:2]
    of_area = by_word & ~zeros
    inside: Value = Cat(
        data.View(ELEMENT_ADDRESS, address).inside.bit_select(component, 1) for address in element_addresses(executor)
    )
    if executor.draws:
        entries = Cat(entry.inside for entry in vertex_elements(executor))
        inside = Mux(is_vertex, entries, inside)
    pixels = Mux(of_area, executor.executing & inside, executor.executing)
    fetches, no_pixel = (reads_input & ~is_absent) | of_area, ~pixels.any()
    full = executor.outstanding.full.bit_select(current.wave, 1)
    target: Any = Signal(target_layout(executor.config), name="target")
    m.d.comb += [
        target.row.eq(found.row),
        target.exists.eq(found.exists),
        target.number.eq(executor.pass_number),
        target.followed.eq(~by_word & _is_followed(executor)),
        *(
            own.eq(Mux(of_area, Mux(select == component, _FIRST, _MASK), select))
            for own, select in zip(target.selects, fetch.selects, strict=True)
        ),
        target.enable.eq(pixels),
        executor.direct.payload.target.eq(target),
        unit.sending.eq(current.begin),
        request.payload.tag.wave.eq(current.wave),
        request.payload.tag.entry.eq(executor.outstanding.entry),
        request.payload.input.eq(
            Mux(is_vertex, INPUTS + len(AREAS), Mux(is_area, INPUTS + fetch.access.scratch, fetch.input))
        ),
        request.payload.uncached.eq(is_area | of_ring),
        request.payload.fetch.eq(pixels),
        executor.outstanding.texture.wave.eq(current.wave),
        executor.outstanding.texture.fetches.eq(1),
        executor.returned.record.tag.eq(request.payload.tag),
        executor.returned.record.kept.target.eq(target),
        executor.returned.record.kept.instruction.eq(instruction_in(current.begin)),
    ]
    _connect_indices(executor, described, component)
    # Of vertices the last channel is 1 if the format does not have it; other absent words are 0.
    lacks_last = is_vertex & (fetch.vertex.channels != CHANNELS)
    one = Mux(lacks_last, Mux(fetch.one_is_float, ONE, 1), 0)
    sizes = described.pitch, described.height, Const(1, WORD_BITS), Const(1, WORD_BITS)
    for channel in range(CHANNELS):
        for lane in range(lanes):
            word = Mux(fetch.task == Task.SIZE, sizes[channel], executor.scaling.results[channel][lane])
            absent = one if channel == CHANNELS - 1 else 0
            m.d.comb += executor.direct.payload.words[lane][channel].eq(Mux(is_absent | by_word, absent, word))
    if executor.draws:
        _connect_vertices(executor, component, is_vertex)
    with m.State("send"):
        m.d.comb += [
            request.valid.eq(fetches & ~no_pixel & ~full),
            executor.direct.valid.eq(~fetches & executor.executing.any()),
        ]
        goes = request.valid & request.ready
        m.d.comb += [executor.outstanding.texture.valid.eq(goes), executor.returned.record.valid.eq(goes)]
        done = goes | (executor.direct.valid & executor.direct.ready) | no_pixel
        with m.If(done & by_word & (executor.component != Mux(is_vertex, fetch.vertex.channels, CHANNELS))):
            m.d.sync += executor.component.eq(executor.component + 1)
        with m.Elif(done):
            m.d.sync += [executor.pass_number.eq(executor.pass_number + 1), executor.component.eq(0)]
            with m.If(executor.pass_number == executor.passes - 1):
                m.d.sync += executor.pass_number.eq(0)
                executor.finish_send()
            with m.Elif(fetch.task == Task.ELEMENT):
                m.next = "divide"

    with m.State("divide"):
        m.d.comb += executor.linear.start.eq(~no_pixel)
        with m.If(executor.linear.done | no_pixel):
            m.next = "send"


def _is_followed(executor: Any) -> Value:
    """Whether a pixel executes in a later pass."""
    later, lanes = Value.cast(executor.current.executing), executor.config.at_once
    return Value.cast(
        Array(later[lanes * (number + 1) :].any() for number in range(executor.passes))[executor.pass_number]
    )


def element_addresses(executor: Any) -> list[Value]:
    """The `ELEMENT_ADDRESS` of each lane of the pass, or of the selected pixel's pass."""
    return [executor.scaling.results[0][lane][: ELEMENT_ADDRESS.size] for lane in range(executor.config.at_once)]


def vertex_elements(executor: Any) -> list[Any]:
    """The `VERTEX_ELEMENT` of each lane of the pass."""
    results, bits = executor.scaling.results, VERTEX_ELEMENT.size
    lanes = range(executor.config.at_once)
    return [
        data.View(VERTEX_ELEMENT, Cat(results[channel][lane] for channel in range(CHANNELS))[:bits]) for lane in lanes
    ]


def _connect_vertices(executor: Any, channel: Value, is_vertex: Value) -> None:
    """The current channel of each lane's element in a vertex buffer."""
    m, request, kept, fetch = (
        executor.m, executor.unit.fetches.request.payload, executor.returned.record.kept, executor.fetch.vertex
    )  # fmt: skip
    m.d.comb += [kept.converts.eq(is_vertex), kept.element.eq(fetch.element)]
    for lane, entry in enumerate(vertex_elements(executor)):
        *_, page, byte = word_of(entry.address, channel, fetch.element.size)
        m.d.comb += [request.page[lane].eq(Mux(is_vertex, page, 0)), kept.bytes[lane].eq(byte)]


def _connect_indices(executor: Any, described: Any, component: Value) -> None:
    """The elements of the pass's lanes, or the current component of each in an area."""
    m, linear, fetch, request = executor.m, executor.linear, executor.fetch, executor.unit.fetches.request.payload
    lanes = [
        [executor.selection.words[channel][lane] for channel in range(CHANNELS)]
        for lane in range(executor.config.at_once)
    ]
    limits = described.limits.width, described.limits.height
    m.d.comb += [linear.pitch.eq(described.pitch), linear.limits.eq(described.limits)]
    for words, number in zip(lanes, linear.numbers, strict=True):
        m.d.comb += number.eq(coordinate(words, fetch.coordinates[0]))
    for axis, (indices, limit) in enumerate(zip((request.x, request.y), limits, strict=True)):
        for lane, words in enumerate(lanes):
            m.submodules[f"texel_{axis}_{lane}"] = texel = TexelIndex()
            plain = coordinate(words, fetch.coordinates[axis])
            in_area = pair(element_addresses(executor)[lane], component)[axis]
            by_number = Mux(fetch.task == Task.AREA, in_area, (linear.x, linear.y)[axis][lane])
            is_numbered = (fetch.task == Task.AREA) | (fetch.task == Task.ELEMENT)
            if executor.draws:
                is_vertex = fetch.task == Task.VERTEX
                entry = vertex_elements(executor)[lane]
                in_memory = word_of(entry.address, component, fetch.vertex.element.size)[axis]
                by_number = Mux(is_vertex, in_memory, by_number)
                is_numbered |= is_vertex
            use_scaled = (fetch.task == Task.SAMPLE) & fetch.normalised[axis]
            m.d.comb += [
                texel.word.eq(Mux(use_scaled, executor.scaling.results[axis][lane], plain)),
                texel.integer.eq(fetch.task == Task.LOAD),
                texel.offset.eq(fetch.offsets[axis]),
                texel.limit.eq(limit),
                indices[lane].eq(Mux(is_numbered, by_number, texel.index)),
            ]

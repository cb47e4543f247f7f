"""Accesses of areas of memory: the addresses of pixels' elements, and their writes by an export.

Source: R700-Family Instruction Set Architecture, section 3.4.2 (MEM_EXPORT, MEM_SCRATCH); docs/design/r700-core.md.
"""

from typing import Any

from amaranth import Array, Cat, Const, Mux, Signal, Value
from amaranth.lib import data

from ctm.rtl.isa.limits import CHANNELS, WORD_BITS
from ctm.rtl.isa.r700 import exports
from ctm.rtl.r700.memory.areas import ELEMENT_ADDRESS, pair
from ctm.rtl.r700.memory.instruction import Task
from ctm.rtl.r700.memory.scaling import coordinate
from ctm.rtl.r700.memory.sending import element_addresses
from ctm.rtl.r700.memory.thread_items import written_item
from ctm.rtl.r700.shapes import AREAS
from ctm.rtl.r700.vertices.items import word_at


def connect_areas(executor: Any) -> tuple[Signal, list[Value]]:
    """Drive the access. Returns the number of the pixel that is written, and the words of its register."""
    m, unit, current, areas = executor.m, executor.unit, executor.current, executor.areas
    numbers = executor.first_numbers
    numbers.write(m, unit.numbered.wave, unit.numbered.number, unit.numbered.valid)
    pixel, components = (
        Signal(range(executor.config.wavefront_lanes)),
        [executor.selection.own[channel] for channel in range(CHANNELS)],
    )
    m.d.comb += [
        areas.program.eq(unit.program),
        areas.access.eq(executor.fetch.access),
        areas.burst.eq(executor.burst),
        areas.covered.eq(current.covered),
        areas.first.eq(_first_number(executor)),
        areas.index.eq(coordinate(components, executor.fetch.coordinates[0])),
    ]
    return pixel, components


def _first_number(executor: Any) -> Value:
    """The number of the slice's first pixel in the domain: slices are beside each other, two rows high."""
    number = executor.first_numbers.read(executor.m, executor.current.wave)
    first: Value = number + executor.slice * (executor.config.wavefront_lanes // 2)
    return first


def add_areas(executor: Any, pixel: Signal, words: list[Value]) -> None:
    """Find the addresses of all pixels' elements. An export writes pixel after pixel.

    As many components of a pixel are written at once as there are lanes. The last write requests a response, which
    comes when all are in memory.
    """
    m, current, write = executor.m, executor.current, executor.unit.uncached.write
    with m.State("areas"):
        m.d.comb += executor.areas.start.eq(1)
        executor.look_at(executor.areas.wanted)
        with m.If(executor.areas.done):
            m.next = "send"
            with m.If(executor.fetch.task == Task.ADDRESSES):
                executor.finish()
    high = data.View(exports.EXPORT_DWORD1_BUF, current.unit[WORD_BITS:])
    address, lane_of = Signal(ELEMENT_ADDRESS.size, name="written_address"), (executor.config.at_once - 1).bit_length()
    writes = (current.executing & current.valid_mask & current.covered).bit_select(pixel, 1)
    inside, area = data.View(ELEMENT_ADDRESS, address).inside, Value.cast(executor.areas.access.scratch)
    if executor.geometry:
        of_threads, item = written_item(executor, pixel[:lane_of])
        inside, area = Mux(of_threads, item.inside, inside), Mux(of_threads, len(AREAS), area)
    mask = Mux(writes, inside & high.comp_mask, 0)
    m.d.comb += [
        address.eq(Array(element_addresses(executor))[pixel[:lane_of]]),
        write.payload.wave.eq(current.wave),
        write.payload.area.eq(area),
        executor.outstanding.write.wave.eq(current.wave),
    ]
    together = min(CHANNELS, executor.config.at_once)
    blocks = CHANNELS // together
    block = executor.component[: (blocks - 1).bit_length()] if blocks > 1 else Const(0)
    for lane in range(together):
        component = Cat(Const(lane, together.bit_length() - 1), block)
        x, y = pair(address, component)
        if executor.geometry:
            column, row, page = word_at(item, component)
            x, y = Mux(of_threads, column, x), Mux(of_threads, row, y)
            m.d.comb += write.payload.page[lane].eq(Mux(of_threads, page, 0))
        m.d.comb += [
            write.payload.x[lane].eq(x),
            write.payload.y[lane].eq(y),
            write.payload.values[lane].eq(Array(words)[component] if blocks > 1 else words[lane]),
        ]
    with m.State("write"):
        executor.look_at_result(pixel)
        now = mask.word_select(block, together)
        m.d.comb += [write.valid.eq(now.any()), write.payload.mask.eq(now)]
        if executor.geometry:
            m.d.comb += executor.streaming.eq(now.any() & of_threads)
        goes, is_last = ~write.valid | write.ready, block == blocks - 1
        if blocks > 1:
            with m.If(goes):
                m.d.sync += executor.component.eq(Mux(is_last, 0, executor.component + 1))
        with m.If(goes & is_last):
            m.d.sync += pixel.eq(pixel + 1)
            with m.If(pixel == executor.config.wavefront_lanes - 1):
                with m.If(executor.work.ends):
                    m.next = "acquire"
                with m.Else():
                    executor.finish()
    with m.State("acquire"):
        m.d.comb += [write.valid.eq(1), write.payload.acquires.eq(1), executor.outstanding.write.valid.eq(write.ready)]
        with m.If(write.ready):
            executor.finish()

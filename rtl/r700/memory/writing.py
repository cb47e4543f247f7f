"""How areas of memory are accessed: where the elements of pixels are, and how an export writes them.

Source: R700-Family Instruction Set Architecture, section 3.4.2 (MEM_EXPORT, MEM_SCRATCH); docs/architecture.md.
"""

from typing import Any

from amaranth import Array, Cat, Const, Mux, Signal, Value
from amaranth.lib import data

from ctm.rtl.isa.limits import CHANNELS, WORD_BITS
from ctm.rtl.isa.r700 import exports
from ctm.rtl.r700.memory.areas import PLACE, pair
from ctm.rtl.r700.memory.instruction import Task
from ctm.rtl.r700.memory.scaling import coordinate
from ctm.rtl.r700.memory.sending import places


def connect_areas(mover: Any) -> tuple[Signal, list[Value]]:
    """Say what is accessed. Returns the number of the pixel that is written, and the words of its register."""
    m, unit, current, areas = mover.m, mover.unit, mover.current, mover.areas
    numbers = mover.first_numbers
    numbers.write(m, unit.numbered.slot, unit.numbered.number, unit.numbered.valid)
    pixel, components = Signal(range(mover.config.group)), [mover.selection.own[channel] for channel in range(CHANNELS)]
    m.d.comb += [
        areas.program.eq(unit.program),
        areas.access.eq(mover.fetch.access),
        areas.burst.eq(mover.burst),
        areas.covered.eq(current.covered),
        areas.first.eq(_first_number(mover)),
        areas.index.eq(coordinate(components, mover.fetch.coordinates[0])),
    ]
    return pixel, components


def _first_number(mover: Any) -> Value:
    """The number of the slice's first pixel in the domain: slices are beside each other, two rows high."""
    number = mover.first_numbers.read(mover.m, mover.current.slot)
    first: Value = number + mover.slice * (mover.config.group // 2)
    return first


def add_areas(mover: Any, pixel: Signal, words: list[Value]) -> None:
    """Find the places of all pixels' elements. An export writes pixel after pixel.

    Of each pixel as many components at once as there are lanes. Behind all of them it asks for an answer that says when
    they are in memory.
    """
    m, current, write = mover.m, mover.current, mover.unit.uncached.write
    with m.State("areas"):
        m.d.comb += mover.areas.start.eq(1)
        mover.look_at(mover.areas.wanted)
        with m.If(mover.areas.done):
            m.next = "send"
            with m.If(mover.fetch.task == Task.PLACES):
                mover.finish()
    high = data.View(exports.EXPORT_DWORD1_BUF, current.unit[WORD_BITS:])
    place = Signal(PLACE.size, name="written_place")
    writes = (current.executing & current.valid_mask & current.covered).bit_select(pixel, 1)
    mask = Mux(writes, data.View(PLACE, place).inside & high.comp_mask, 0)
    m.d.comb += [
        place.eq(Array(places(mover))[pixel[: (mover.config.at_once - 1).bit_length()]]),
        write.payload.wave.eq(current.slot),
        write.payload.area.eq(mover.areas.access.scratch),
        mover.outstanding.write.slot.eq(current.slot),
    ]
    together = min(CHANNELS, mover.config.at_once)
    pieces = CHANNELS // together
    piece = mover.component[: (pieces - 1).bit_length()] if pieces > 1 else Const(0)
    for lane in range(together):
        component = Cat(Const(lane, together.bit_length() - 1), piece)
        x, y = pair(place, component)
        m.d.comb += [
            write.payload.x[lane].eq(x),
            write.payload.y[lane].eq(y),
            write.payload.values[lane].eq(Array(words)[component] if pieces > 1 else words[lane]),
        ]
    with m.State("write"):
        mover.look_at(pixel)
        now = mask.word_select(piece, together)
        m.d.comb += [write.valid.eq(now.any()), write.payload.mask.eq(now)]
        goes, is_last = ~write.valid | write.ready, piece == pieces - 1
        if pieces > 1:
            with m.If(goes):
                m.d.sync += mover.component.eq(Mux(is_last, 0, mover.component + 1))
        with m.If(goes & is_last):
            m.d.sync += pixel.eq(pixel + 1)
            with m.If(pixel == mover.config.group - 1):
                with m.If(mover.work.ends):
                    m.next = "acquire"
                with m.Else():
                    mover.finish()
    with m.State("acquire"):
        m.d.comb += [write.valid.eq(1), write.payload.acquires.eq(1), mover.outstanding.write.valid.eq(write.ready)]
        with m.If(write.ready):
            mover.finish()

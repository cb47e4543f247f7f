"""How a fetch sends its lookups, or writes what needs none, pass by pass.

Source: R700-Family Instruction Set Architecture, chapter 5; docs/architecture.md.
"""

from typing import Any

from amaranth import Array, Cat, Const, Mux, Signal, Value
from amaranth.lib import data

from ctm.rtl.isa.limits import CHANNELS, INPUTS, WORD_BITS
from ctm.rtl.isa.r700.components import ComponentSelect
from ctm.rtl.r700.memory.areas import PLACE, pair
from ctm.rtl.r700.memory.instruction import LOOKUPS, Task, is_among
from ctm.rtl.r700.memory.places import TexelPlace
from ctm.rtl.r700.memory.returned import instruction_in
from ctm.rtl.r700.memory.scaling import coordinate
from ctm.rtl.r700.registers.writing import target_layout

_FIRST, _MASK = ComponentSelect.X.value, ComponentSelect.MASK.value


def add_send(mover: Any) -> None:
    """Send a lookup, or write what needs none, pass by pass."""
    m, unit, fetch, current, lanes = mover.m, mover.unit, mover.fetch, mover.current, mover.config.at_once
    described = mover.described
    found = mover.place(fetch.destination + mover.burst, fetch.destination_relative)
    request = unit.lookups.request
    is_lookup, is_area = is_among(fetch.task, LOOKUPS), fetch.task == Task.AREA
    is_absent = is_lookup & (described.limits.width == 0)
    # All components of an area's elements are zeros, before those that there are come one by one.
    zeros = mover.component == 0
    component = (mover.component - 1)[:2]
    of_area = is_area & ~zeros
    inside = Cat(data.View(PLACE, place).inside.bit_select(component, 1) for place in places(mover))
    pixels = Mux(of_area, mover.executing & inside, mover.executing)
    looks_up, nobody = (is_lookup & ~is_absent) | of_area, ~pixels.any()
    full = mover.outstanding.full.bit_select(current.slot, 1)
    target: Any = Signal(target_layout(mover.config), name="target")
    m.d.comb += [
        target.row.eq(found.row),
        target.exists.eq(found.exists),
        target.number.eq(mover.pass_number),
        target.followed.eq(~is_area & _is_followed(mover)),
        *(
            own.eq(Mux(of_area, Mux(select == component, _FIRST, _MASK), select))
            for own, select in zip(target.selects, fetch.selects, strict=True)
        ),
        target.enable.eq(pixels),
        mover.direct.payload.target.eq(target),
        request.payload.tag.slot.eq(current.slot),
        request.payload.tag.entry.eq(mover.outstanding.entry),
        request.payload.input.eq(Mux(is_area, INPUTS + fetch.access.scratch, fetch.input)),
        request.payload.uncached.eq(is_area),
        request.payload.fetch.eq(pixels),
        mover.outstanding.texture.slot.eq(current.slot),
        mover.outstanding.texture.looks_up.eq(1),
        mover.returned.record.tag.eq(request.payload.tag),
        mover.returned.record.kept.target.eq(target),
        mover.returned.record.kept.instruction.eq(instruction_in(current.begin)),
    ]
    _connect_indices(mover, described, component)
    sizes = described.pitch, described.height, Const(1, WORD_BITS), Const(1, WORD_BITS)
    for channel in range(CHANNELS):
        for lane in range(lanes):
            word = Mux(fetch.task == Task.SIZE, sizes[channel], mover.scaling.results[channel][lane])
            m.d.comb += mover.direct.payload.words[lane][channel].eq(Mux(is_absent | is_area, 0, word))
    with m.State("send"):
        m.d.comb += [
            request.valid.eq(looks_up & ~nobody & ~full),
            mover.direct.valid.eq(~looks_up & ~nobody),
        ]
        goes = request.valid & request.ready
        m.d.comb += [mover.outstanding.texture.valid.eq(goes), mover.returned.record.valid.eq(goes)]
        done = goes | (mover.direct.valid & mover.direct.ready) | nobody
        with m.If(done & is_area & (mover.component != CHANNELS)):
            m.d.sync += mover.component.eq(mover.component + 1)
        with m.Elif(done):
            m.d.sync += [mover.pass_number.eq(mover.pass_number + 1), mover.component.eq(0)]
            with m.If(mover.pass_number == mover.passes - 1):
                m.d.sync += mover.pass_number.eq(0)
                mover.finish_send()
            with m.Elif(fetch.task == Task.ELEMENT):
                m.next = "divide"

    with m.State("divide"):
        m.d.comb += mover.linear.start.eq(~nobody)
        with m.If(mover.linear.done | nobody):
            m.next = "send"


def _is_followed(mover: Any) -> Value:
    """Whether a pixel executes in a later pass."""
    later, lanes = Value.cast(mover.current.executing), mover.config.at_once
    return Value.cast(Array(later[lanes * (number + 1) :].any() for number in range(mover.passes))[mover.pass_number])


def places(mover: Any) -> list[Value]:
    """The `PLACE` of each lane of the pass, or of that in which the pixel is that is looked at."""
    return [mover.scaling.results[0][lane][: PLACE.size] for lane in range(mover.config.at_once)]


def _connect_indices(mover: Any, described: Any, component: Value) -> None:
    """The elements of the pass's lanes, or that component of each in an area."""
    m, linear, fetch, request = mover.m, mover.linear, mover.fetch, mover.unit.lookups.request.payload
    lanes = [
        [mover.selection.words[channel][lane] for channel in range(CHANNELS)] for lane in range(mover.config.at_once)
    ]
    limits = described.limits.width, described.limits.height
    m.d.comb += [linear.pitch.eq(described.pitch), linear.limits.eq(described.limits)]
    for words, number in zip(lanes, linear.numbers, strict=True):
        m.d.comb += number.eq(coordinate(words, fetch.coordinates[0]))
    for axis, (indices, limit) in enumerate(zip((request.x, request.y), limits, strict=True)):
        for lane, words in enumerate(lanes):
            m.submodules[f"texel_{axis}_{lane}"] = texel = TexelPlace()
            plain = coordinate(words, fetch.coordinates[axis])
            in_area = pair(places(mover)[lane], component)[axis]
            by_number = Mux(fetch.task == Task.AREA, in_area, (linear.x, linear.y)[axis][lane])
            is_numbered = (fetch.task == Task.AREA) | (fetch.task == Task.ELEMENT)
            use_scaled = (fetch.task == Task.SAMPLE) & fetch.normalised[axis]
            m.d.comb += [
                texel.word.eq(Mux(use_scaled, mover.scaling.results[axis][lane], plain)),
                texel.integer.eq(fetch.task == Task.LOAD),
                texel.offset.eq(fetch.offsets[axis]),
                texel.limit.eq(limit),
                indices[lane].eq(Mux(is_numbered, by_number, texel.place)),
            ]

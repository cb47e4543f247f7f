"""How a fetch sends its lookups, or writes what needs none, pass by pass.

Source: R700-Family Instruction Set Architecture, chapter 5; docs/architecture.md.
"""

from typing import Any

from amaranth import Array, Const, Mux, Signal

from ctm.rtl.isa.limits import CHANNELS, WORD_BITS
from ctm.rtl.r700.memory.instruction import Task
from ctm.rtl.r700.memory.places import TexelPlace
from ctm.rtl.r700.memory.returned import target_layout
from ctm.rtl.r700.memory.scaling import coordinate


def add_send(mover: Any) -> None:
    """Send a lookup, or write what needs none, pass by pass."""
    m, unit, fetch, current, lanes = mover.m, mover.unit, mover.fetch, mover.current, mover.config.lanes
    described = Array(unit.program.inputs)[fetch.input]
    found = mover.place(fetch.destination + mover.burst, fetch.destination_relative)
    request = unit.lookups.request
    is_lookup = mover.is_lookup()
    is_absent = is_lookup & (described.limits.width == 0)
    looks_up, nobody = is_lookup & ~is_absent, ~mover.executing.any()
    full = mover.outstanding.full.bit_select(current.slot, 1)
    target: Any = Signal(target_layout(mover.config), name="target")
    m.d.comb += [
        target.row.eq(found.row),
        target.exists.eq(found.exists),
        target.number.eq(mover.pass_number),
        target.selects.eq(fetch.selects),
        target.enable.eq(mover.executing),
        mover.direct.payload.target.eq(target),
        request.payload.tag.slot.eq(current.slot),
        request.payload.tag.entry.eq(mover.outstanding.entry),
        request.payload.input.eq(fetch.input),
        request.payload.fetch.eq(mover.executing),
        mover.outstanding.texture.slot.eq(current.slot),
        mover.outstanding.texture.looks_up.eq(1),
        mover.returned.record.tag.eq(request.payload.tag),
        mover.returned.record.kept.target.eq(target),
        mover.returned.record.kept.address.eq(current.begin),
    ]
    _connect_indices(mover, described)
    sizes = described.pitch, described.height, Const(1, WORD_BITS), Const(1, WORD_BITS)
    for channel in range(CHANNELS):
        computed = mover.of_pass(mover.scaling.results[channel], WORD_BITS)
        for lane in range(lanes):
            word = Mux(fetch.task == Task.SIZE, sizes[channel], computed.word_select(lane, WORD_BITS))
            m.d.comb += mover.direct.payload.words[lane][channel].eq(Mux(is_absent, 0, word))
    with m.State("send"):
        m.d.comb += [
            request.valid.eq(looks_up & ~nobody & ~full),
            mover.direct.valid.eq(~looks_up & ~nobody),
        ]
        goes = request.valid & request.ready
        m.d.comb += [mover.outstanding.texture.valid.eq(goes), mover.returned.record.valid.eq(goes)]
        with m.If(goes | (mover.direct.valid & mover.direct.ready) | nobody):
            m.d.sync += mover.pass_number.eq(mover.pass_number + 1)
            with m.If(fetch.task == Task.ELEMENT):
                m.next = "divide"
            with m.If(mover.pass_number == mover.passes - 1):
                m.d.sync += [
                    mover.pass_number.eq(0),
                    mover.pending.eq(mover.pending | mover.named(fetch.destination, fetch.destination_relative)),
                ]
                mover.go_on("share")

    with m.State("divide"):
        m.d.comb += mover.linear.start.eq(~nobody)
        with m.If(mover.linear.done | nobody):
            m.next = "send"


def _connect_indices(mover: Any, described: Any) -> None:
    """The elements of the pass's lanes."""
    m, linear, fetch, request = mover.m, mover.linear, mover.fetch, mover.unit.lookups.request.payload
    parts = [mover.of_pass(mover.source[channel], WORD_BITS) for channel in range(CHANNELS)]
    limits = described.limits.width, described.limits.height
    m.d.comb += [linear.pitch.eq(described.pitch), linear.limits.eq(described.limits)]
    for lane, number in enumerate(linear.numbers):
        words = [part.word_select(lane, WORD_BITS) for part in parts]
        m.d.comb += number.eq(coordinate(words, fetch.coordinates[0]))
    for axis, (indices, limit) in enumerate(zip((request.x, request.y), limits, strict=True)):
        scaled = mover.of_pass(mover.scaling.results[axis], WORD_BITS)
        for lane in range(mover.config.lanes):
            m.submodules[f"texel_{axis}_{lane}"] = texel = TexelPlace()
            words = [part.word_select(lane, WORD_BITS) for part in parts]
            plain = coordinate(words, fetch.coordinates[axis])
            use_scaled = (fetch.task == Task.SAMPLE) & fetch.normalised[axis]
            m.d.comb += [
                texel.word.eq(Mux(use_scaled, scaled.word_select(lane, WORD_BITS), plain)),
                texel.integer.eq(fetch.task == Task.LOAD),
                texel.offset.eq(fetch.offsets[axis]),
                texel.limit.eq(limit),
                indices[lane].eq(Mux(fetch.task == Task.ELEMENT, (linear.x, linear.y)[axis][lane], texel.place)),
            ]

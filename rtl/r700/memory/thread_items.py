"""Writes of a draw's threads: their items of a ring, and their vertices in streams.

Source: docs/draws.md, rings and stream-out.
"""

from typing import Any

from amaranth import Array, Cat, Mux, Signal, Value
from amaranth.lib import data

from ctm.rtl.border.shading import is_of_threads
from ctm.rtl.isa.draws import STREAMS
from ctm.rtl.isa.limits import CHANNELS, WORD_BITS
from ctm.rtl.isa.r700 import exports
from ctm.rtl.lib.clock_gating import Gated
from ctm.rtl.lib.ram import DistributedRam
from ctm.rtl.r700.memory.scaling import coordinate
from ctm.rtl.r700.vertices.items import ITEM_ELEMENT, ItemAddresses

_STREAMED = data.StructLayout({"streamed": 1, "number": WORD_BITS})


def connect_items(executor: Any) -> None:
    """Connect the addresses of elements, and which vertices are streamed out."""
    m, unit, vertex = executor.m, executor.unit, executor.unit.vertex
    count = executor.machine.pipeline.vertices
    executor.items = items = ItemAddresses(executor.config, count)
    m.submodules.items = Gated(items, items.start)
    m.submodules.streamed = streamed = DistributedRam(_STREAMED, count)
    streamed.write(m, vertex.entry, Cat(vertex.streamed, vertex.number), vertex.valid)
    own = [executor.selection.own[channel] for channel in range(CHANNELS)]
    first = executor.first_numbers.read(m, executor.current.wave)
    thread = (first + Cat(items.wanted, executor.slice))[: (count - 1).bit_length()]
    found, operation = streamed.read(m, thread), _operation(executor)
    executor.streaming = Signal(name="streaming")
    is_stream = operation.matches(*(each.value for each in exports.STREAM_WRITES))
    number = operation[: (STREAMS - 1).bit_length()]
    m.d.comb += [
        items.program.eq(unit.program),
        items.access.eq(executor.fetch.access),
        items.burst.eq(executor.burst),
        items.streams.eq(is_stream),
        items.stream.eq(number),
        items.index.eq(coordinate(own, executor.fetch.coordinates[0])),
        items.thread.eq(thread),
        items.streamed.eq(found.streamed),
        items.number.eq(found.number),
    ]
    # No output of a core depends on a signal that settles late in a cycle.
    m.d.sync += unit.streams.eq(Mux(executor.streaming & is_stream, 1 << number, 0))
    executor.store(items)


def add_items(executor: Any) -> None:
    """Find the elements of all threads."""
    m = executor.m
    with m.State("items"):
        m.d.comb += executor.items.start.eq(1)
        executor.look_at(executor.items.wanted)
        with m.If(executor.items.done):
            executor.finish()


def written_item(executor: Any, lane: Value) -> tuple[Value, Any]:
    """Whether the export is of a program for threads, and the `ITEM_ELEMENT` of a lane of the pass."""
    results, bits = executor.scaling.results, ITEM_ELEMENT.size
    elements = [
        Cat(results[channel][each] for channel in range(CHANNELS))[:bits] for each in range(executor.config.at_once)
    ]
    of_threads = is_of_threads(executor.unit.program.stage)
    item: Any = Signal(ITEM_ELEMENT, name="written_item")
    executor.m.d.comb += Value.cast(item).eq(Array(elements)[lane])
    return of_threads, item


def _operation(executor: Any) -> Value:
    """The operation of the export."""
    return Value.cast(data.View(exports.EXPORT_DWORD1_BUF, executor.current.unit[WORD_BITS:]).cf_inst)

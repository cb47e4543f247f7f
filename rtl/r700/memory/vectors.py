"""Memory accesses of a draw's vertices: fetches from vertex buffers, and exports of vectors.

Source: docs/draws.md.
"""

from typing import Any

from amaranth import Array, Cat, Const, Mux, Signal, Value
from amaranth.lib import data

from ctm.rtl.isa.limits import CHANNELS, WORD_BITS
from ctm.rtl.isa.r700 import exports
from ctm.rtl.isa.r700.components import ComponentSelect
from ctm.rtl.lib.clock_gating import Gated
from ctm.rtl.r700.memory.scaling import coordinate
from ctm.rtl.r700.registers.writing import selected
from ctm.rtl.r700.vertices.addresses import VertexAddresses

_MISC, _FIRST, _SECOND = range(1, exports.POSITIONS)
"""Position vectors after the position."""


def connect_vertices(executor: Any) -> None:
    """Connect the addresses of elements, and what exports write."""
    m, unit = executor.m, executor.unit
    executor.vertices = vertices = VertexAddresses(executor.config)
    m.submodules.vertices = Gated(vertices, vertices.start | vertices.write.valid)
    own = [executor.selection.own[channel] for channel in range(CHANNELS)]
    m.d.comb += [
        vertices.write.eq(unit.buffer),
        vertices.fetch.eq(executor.fetch.vertex),
        vertices.first_instance.eq(unit.program.draw.first_instance),
        vertices.index.eq(coordinate(own, executor.fetch.coordinates[0])),
    ]
    executor.store(vertices)


def add_vertices(executor: Any) -> None:
    """Find elements, and then send their fetches; export a register of one vertex in each cycle."""
    m, unit, current = executor.m, executor.unit, executor.current
    with m.State("vertices"):
        m.d.comb += executor.vertices.start.eq(1)
        executor.look_at(executor.vertices.wanted)
        with m.If(executor.vertices.done):
            m.next = "send"
    vertex, size = Signal(range(executor.config.wavefront_lanes), name="vertex"), executor.config.wavefront_lanes
    low = data.View(exports.EXPORT_DWORD0, current.unit[:WORD_BITS])
    high = data.View(exports.EXPORT_DWORD1_SWIZ, current.unit[WORD_BITS:])
    is_position, exists, row = _vector(executor, low)
    exported, own = unit.exported, Cat(executor.selection.own[channel] for channel in range(CHANNELS))
    first = executor.first_numbers.read(m, current.wave)
    m.d.comb += [
        exported.vector.entry.eq(first + Cat(vertex, executor.slice)),
        exported.vector.is_position.eq(is_position),
        exported.vector.row.eq(row),
    ]
    for channel, component in enumerate("xyzw"):
        select = Value.cast(high[f"sel_{component}"])
        m.d.comb += [
            exported.words[channel].eq(selected(own, select)),
            exported.mask[channel].eq(select != ComponentSelect.MASK.value),
        ]
    with m.State("vectors"):
        executor.look_at(vertex)
        writes = (current.executing & current.covered & current.valid_mask).bit_select(vertex, 1)
        m.d.comb += exported.valid.eq(writes & exists)
        m.d.sync += vertex.eq(vertex + 1)
        with m.If(vertex == size - 1):
            executor.finish()


def _vector(executor: Any, low: Any) -> tuple[Value, Value, Value]:
    """Whether the vector of the register is one of positions, whether the vertex has it, and its row."""
    target = (low.array_base + executor.burst)[: (exports.FIRST_POSITION + exports.POSITIONS).bit_length()]
    is_position = Value.cast(low.type) == exports.ExportType.POS.value
    has_misc, has_first, has_second = executor.unit.program.draw.vectors
    after = [
        Mux(has_misc, _MISC, Mux(has_first, _FIRST, _SECOND)),
        Mux(has_misc & has_first, _FIRST, _SECOND),
        Const(_SECOND),
    ]
    counts = has_misc + has_first + has_second
    number = (target - exports.FIRST_POSITION)[:2]
    row = Array([Const(0), *after])[number]
    return is_position, ~is_position | (number <= counts), Mux(is_position, row, target)

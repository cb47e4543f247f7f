"""A core that shades a draw's vertices and pixels: what its units have to do with the units around it.

Source: docs/draws.md; docs/design/draws.md.
"""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import data, wiring

from ctm.rtl.border.shading import Stage
from ctm.rtl.config import MachineConfig
from ctm.rtl.lib.ram import DistributedRam


def connect_shading(m: Module, core: wiring.Component, config: MachineConfig) -> None:
    """Wire `core.shading` to the core's units."""
    shading, units, payload = core.shading, core.units, core.wavefront.payload
    taken, of_pixels = units.end.wavefront, Signal(name="of_pixels")
    m.submodules.tickets = tickets = DistributedRam(range(config.array.threads), config.array.threads)
    tickets.write(m, taken.wave, payload.drawn.ticket, taken.valid)
    ended = units.end.free
    m.d.comb += [
        of_pixels.eq(core.launched.stage == Stage.PIXELS),
        units.start.vertex.eq(shading.vertex),
        units.fetch.shading.buffer.eq(shading.buffer),
        shading.exported.eq(units.fetch.shading.exported),
        units.alu.shapes.taken.valid.eq(taken.valid),
        units.alu.shapes.taken.wave.eq(taken.wave),
        units.alu.shapes.taken.constants.eq(payload.drawn.constants),
    ]
    if config.pipeline.has_geometry:
        _connect_geometry(m, core, config)
    values = units.retirement.tester.request.payload.values
    m.d.comb += [
        target.eq(clamped(m, core.launched, value))
        for target, value in zip(core.tests.request.payload.values, values, strict=True)
    ]
    # No output of a core depends on a signal that settles late in a cycle.
    m.d.sync += [
        shading.ended.valid.eq(ended.valid & of_pixels),
        shading.ended.ticket.eq(tickets.read(m, ended.wave)),
    ]


def _connect_geometry(m: Module, core: wiring.Component, config: MachineConfig) -> None:
    """What threads begin with, what they emit and stream out."""
    shading, units, taken = core.shading, core.units, core.units.end.wavefront
    emits, shown = units.flow.emits, shading.emits
    m.submodules.first_threads = firsts = DistributedRam(range(config.pipeline.vertices), config.array.threads)
    firsts.write(m, taken.wave, core.wavefront.payload.i, taken.valid)
    m.d.comb += [
        units.start.thread.eq(shading.thread),
        units.fetch.shading.vertex.eq(shading.vertex),
        shading.streams.eq(units.fetch.shading.streams),
        shown.valid.eq(emits.valid),
        emits.ready.eq(shown.ready),
        *(shown.payload[name].eq(emits.payload[name]) for name in ("emits", "cuts", "lanes")),
        shown.payload.first.eq(firsts.read(m, emits.payload.wave)),
    ]


def clamped(m: Module, program: data.View, value: Value) -> Value:
    """A pixel's depth in the range of the draw; values of other programs as they are. A NaN is kept."""
    draw, word = program.draw, Signal(len(value), name="depth")
    key, lowest, highest = (_key(each) for each in (value, draw.lowest_depth, draw.highest_depth))
    is_nan = value[23:31].all() & value[:23].any()
    clamps = (program.stage == Stage.PIXELS) & ~is_nan
    bounded = Mux(key < lowest, draw.lowest_depth, Mux(key > highest, draw.highest_depth, value))
    m.d.comb += word.eq(Mux(clamps, bounded, value))
    return word


def _key(word: Value) -> Value:
    """A float that is no NaN as an integer of the same order; denormals are zeros."""
    magnitude = Mux(word[23:31].any(), word[:-1], 0)
    return Mux(word[-1], -magnitude, magnitude)

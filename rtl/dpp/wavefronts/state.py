"""The state of all wavefronts, but for their registers and PCs.

What a wavefront needs until its outputs are sent is in its context, of which each wave slot has two. All else is stored
once for each wave slot.
"""

from collections.abc import Iterable
from typing import Any

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.programs import wavefront_layout
from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.shapes import Shapes
from ctm.rtl.dpp.wavefronts.scheduling import context_bits, wave_bits
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.lib.ram import DistributedRam, LazyTable


def end_state_layout(lanes: int) -> data.StructLayout:
    """The state of a wavefront that ended: its position, and its pixels that are covered and valid."""
    return data.StructLayout({**{name: field.shape for name, field in wavefront_layout(lanes)}, "valid_mask": lanes})


def wavefront_state_layout(shapes: Shapes, lanes: int) -> data.StructLayout:
    """A wavefront's state: its position, its valid pixels, and the instruction set's state but for stacks."""
    layouts = (wavefront_layout(lanes), shapes.flags(lanes), shapes.control(lanes))
    position, flags, control = ({name: field.shape for name, field in layout} for layout in layouts)
    return data.StructLayout({**position, "valid_mask": lanes, **flags, **control})


class WavefrontStates(wiring.Component):
    """Holds the state of every wave slot's wavefront, and of wavefronts that vacated their wave slots.

    Readers name a wave slot a cycle before they read, so that their read begins at a register; it sees what was written
    in earlier cycles. Reads of ended wavefronts are combinational.

    Members
    -------
    second : ``In(threads)``
        Wave slots whose wavefront has the second of the wave slot's contexts.
    waves, reads : ``In``, ``In(1)`` for each reader
        With `reads` the wave slot of the cycles that follow, until the next one.
    wavefronts : ``Out(wavefront_state_layout(shapes, lanes))`` for each reader
    stacks_wave, stacks
        One more reader, of the stacks: the wave slot of the next cycle.
    ended_contexts : ``In(context)``, 2 of them
    ended : ``Out(end_state_layout(lanes))`` for each of them
    start : ``In({valid, context, wavefront})``
        A wavefront takes a wave slot and this context: position and coverage are set, control is `first_control`, all
        pixels are valid.
    control : ``In({valid, wave, control, stacks})``
        New flow-control state.
    valid_mask : ``In({valid, wave, valid_mask})``
    flags : ``In({valid, wave, flags})``
    """

    def __init__(self, config: ArrayConfig, shapes: Shapes, readers: int) -> None:
        self._config, self._shapes = config, shapes
        lanes, wave = config.lanes, wave_bits(config)

        def event(**fields: Any) -> Any:
            return In(data.StructLayout({"valid": 1, "wave": wave, **fields}))

        super().__init__(
            {
                "second": In(config.threads),
                "waves": In(wave).array(readers),
                "reads": In(1).array(readers),
                "wavefronts": Out(wavefront_state_layout(shapes, lanes)).array(readers),
                "stacks_wave": In(wave),
                "stacks": Out(shapes.stacks(lanes)),
                "ended_contexts": In(context_bits(config)).array(2),
                "ended": Out(end_state_layout(lanes)).array(2),
                "start": In(
                    data.StructLayout(
                        {"valid": 1, "context": context_bits(config), "wavefront": wavefront_layout(lanes)}
                    )
                ),
                "control": event(control=shapes.control(lanes), stacks=shapes.stacks(lanes)),
                "valid_mask": event(valid_mask=lanes),
                "flags": event(flags=shapes.flags(lanes)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        lanes, threads, shapes = self._config.lanes, self._config.threads, self._shapes
        positions = DistributedRam(wavefront_layout(lanes), 2 * threads)
        valid_mask = LazyTable(data.StructLayout({"valid_mask": lanes}), 2 * threads, first=(1 << lanes) - 1)
        flags = LazyTable(shapes.flags(lanes), threads)
        control_layout: Any = shapes.control(lanes)
        first_control = control_layout.const(shapes.first_control(lanes))
        control = LazyTable(control_layout, threads, first=first_control.as_value())
        stacks = DistributedRam(shapes.stacks(lanes), threads)
        by_context, by_wave = {"positions": positions, "valid_mask": valid_mask}, {"flags": flags, "control": control}
        for name, table in {**by_context, **by_wave, "stacks": stacks}.items():
            m.submodules[name] = table

        def read(state: data.View, tables: Iterable[DistributedRam], number: Value) -> None:
            for table in tables:
                found = table.read(m, number)
                m.d.comb += [state[name].eq(found[name]) for name, _ in found.shape()]

        for number, (upcoming, reads, state) in enumerate(zip(self.waves, self.reads, self.wavefronts, strict=True)):
            wave = Signal.like(upcoming, name=f"wave_{number}", reset_less=True)
            with m.If(reads):
                m.d.sync += wave.eq(upcoming)
            read(state, by_context.values(), self._context(wave))
            read(state, by_wave.values(), wave)
        for context, state in zip(self.ended_contexts, self.ended, strict=True):
            read(state, by_context.values(), context)
        m.d.comb += self.stacks.eq(stacks.read(m, delay(m, self.stacks_wave, name="wave_of_stacks")))

        start = self.start
        positions.write(m, start.context, start.wavefront, start.valid)
        valid_mask.write(m, self._context(self.valid_mask.wave), self.valid_mask.valid_mask, self.valid_mask.valid)
        flags.write(m, self.flags.wave, self.flags.flags, self.flags.valid)
        changed = self.control
        control.write(m, changed.wave, changed.control, changed.valid)
        stacks.write(m, changed.wave, changed.stacks, changed.valid)
        valid_mask.start(m, start.context, start.valid)
        flags.start(m, start.context[:-1], start.valid)
        control.start(m, start.context[:-1], start.valid)
        return m

    def _context(self, wave: Value) -> Value:
        """The context of a wave slot's wavefront."""
        return Cat(wave, self.second.bit_select(wave, 1))

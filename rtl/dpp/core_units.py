"""The units of the R5xx core that no instruction changes, and their wiring.

The core adds its issue ports and its code between scheduler, registers and memory; docs/design/array.md has the
picture. The R700 core takes `connect_retirement` alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import connect, flipped

from ctm.rtl.config import ArrayConfig, MachineConfig
from ctm.rtl.dpp.memory.coordinates import Coordinates
from ctm.rtl.dpp.memory.fetch_records import passenger_layout
from ctm.rtl.dpp.memory.fetch_return import FetchReturn
from ctm.rtl.dpp.memory.scoreboard import Scoreboard
from ctm.rtl.dpp.memory.uncached_writes import UncachedWrites
from ctm.rtl.dpp.registers.file import RegisterFile
from ctm.rtl.dpp.registers.outputs import OutputRegisters, OutputSizes
from ctm.rtl.dpp.registers.placement import allocate, usable_waves
from ctm.rtl.dpp.shapes import Shapes
from ctm.rtl.dpp.wavefronts.retirement import Retirement
from ctm.rtl.dpp.wavefronts.scheduler import Scheduler
from ctm.rtl.dpp.wavefronts.starter import Starter
from ctm.rtl.dpp.wavefronts.state import WavefrontStates

_OUTPUT, _TEST = range(2)
"""Readers of the states of ended wavefronts."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CoreUnits:
    """The units; submodules of the core have the same names."""

    scheduler: Scheduler
    states: WavefrontStates
    registers: RegisterFile
    outputs: OutputRegisters
    outstanding: Scoreboard
    starter: Starter
    coordinates: Coordinates
    fetches: FetchReturn
    uncached: UncachedWrites
    retirement: Retirement


def make_units(config: MachineConfig, shapes: Shapes, *, readers: int) -> CoreUnits:
    """Make the units; `readers` is the number of readers of wavefronts' states, see `WavefrontStates`."""
    array = config.array
    sizes = OutputSizes.of(array)
    return CoreUnits(
        scheduler=Scheduler(array, shapes),
        states=WavefrontStates(array, shapes, readers),
        registers=RegisterFile(array, shapes),
        outputs=OutputRegisters(sizes, shapes),
        outstanding=Scoreboard(array),
        starter=Starter(array),
        coordinates=Coordinates(
            array.at_once, passenger_layout(array, shapes), config.arithmetic, shares_multiplier=array.beats > 1
        ),
        fetches=FetchReturn(array, shapes),
        uncached=UncachedWrites(array),
        retirement=Retirement(sizes, shapes),
    )


def connect_units(m: Module, core: wiring.Component, units: CoreUnits, array: ArrayConfig) -> data.View:
    """Wire what needs no instruction set to a core with the members of `core_members` and its program, `launched`.

    Returns
    -------
    allocation : ``ALLOCATION``
        Where the program's temporaries are, for the ports.
    """
    allocation = allocate(m, core.launched.highest_temporary)
    m.d.comb += [
        units.registers.wave_exponent.eq(allocation.exponent),
        units.scheduler.admission.usable.eq(usable_waves(array, allocation.exponent)),
    ]
    _connect_starts(m, core, units, allocation)
    _connect_outstanding(m, core, units)
    _connect_fetches(m, core, units)
    _connect_register_writes(m, units, array, allocation)
    _connect_ends(m, core, units)
    return allocation


def _connect_starts(m: Module, core: wiring.Component, units: CoreUnits, allocation: data.View) -> None:
    """Wavefronts that the core takes."""
    scheduler, starter, program = units.scheduler, units.starter, core.launched
    admission = scheduler.admission
    takes = core.wavefront.valid & core.wavefront.ready
    # Which wave slots are usable is valid two cycles after the settings, which are valid a cycle before this.
    offered = Signal()
    m.d.sync += offered.eq(core.wavefront.valid)
    starts = (units.outputs.start, units.states.start)
    m.d.comb += [
        core.free.eq(admission.free),
        core.wavefront.ready.eq(admission.free.any() & ~starter.busy & offered),
        admission.admit.eq(takes),
        *(start.valid.eq(takes) for start in starts),
        *(start.context.eq(admission.context) for start in starts),
        units.states.start.wavefront.eq(core.wavefront.payload),
        units.states.second.eq(scheduler.contexts.second),
        starter.wavefront.valid.eq(takes),
        starter.wavefront.wave.eq(admission.context[:-1]),
        starter.wavefront.wavefront.eq(core.wavefront.payload),
        starter.allocation.eq(allocation),
        starter.reserved.eq(units.registers.results.reserved),
        scheduler.start.eq(program.start),
        scheduler.begin.eq(starter.begin),
        scheduler.watchdog.eq(program.watchdog),
        core.activity.stalls.eq(scheduler.stalls),
    ]


def _connect_outstanding(m: Module, core: wiring.Component, units: CoreUnits) -> None:
    """Outstanding fetches and uncached writes."""
    scheduler, outstanding, done = units.scheduler, units.outstanding, core.uncached.done
    connect(m, units.uncached.write, flipped(core.uncached.write))
    connect(m, scheduler.outstanding, outstanding.waves)
    m.d.comb += [
        outstanding.returned.eq(units.fetches.returned),
        done.ready.eq(1),
    ]
    # Registered: it comes from the response of a memory port in the same cycle, through the array.
    m.d.sync += [outstanding.written.valid.eq(done.valid), outstanding.written.wave.eq(done.payload.wave)]


def _connect_fetches(m: Module, core: wiring.Component, units: CoreUnits) -> None:
    """Fetches after their coordinates are computed, and wavefronts that an error response stops."""
    request, result, fetches = core.fetches.request, units.coordinates.result, units.fetches
    connect(m, flipped(core.fetches.response), fetches.response)
    m.d.comb += [
        request.valid.eq(result.valid),
        result.ready.eq(request.ready),
        request.payload.x.eq(result.payload.x),
        request.payload.y.eq(result.payload.y),
        *(request.payload[name].eq(result.payload.passenger[name]) for name, _ in result.payload.passenger.shape()),
        units.scheduler.stop.valid.eq(fetches.error.valid),
        units.scheduler.stop.wave.eq(fetches.returned.wave),
    ]


def _connect_register_writes(m: Module, units: CoreUnits, array: ArrayConfig, allocation: data.View) -> None:
    """Writes of new wavefronts have priority over fetches, which could starve them.

    A write of either is taken if its bank is not busy. The starter's is valid only then. A fetch's is compared with
    the busy banks here and in the register file, so that no path leads through both.
    """
    fetch, clear, write = units.fetches.write, units.starter.write, units.registers.texture_write
    m.d.comb += [
        units.fetches.allocation.eq(allocation),
        fetch.ready.eq(~units.registers.busy.bit_select(fetch.payload.address.bank, 1) & ~clear.valid),
        write.valid.eq(fetch.valid | clear.valid),
    ]
    with m.If(clear.valid):
        m.d.comb += [
            write.payload.address.eq(clear.address),
            write.payload.words.eq(clear.words),
            Value.cast(write.payload.enable).eq(~0),
            write.payload.invalidates.eq(1),
        ]
    with m.Else():
        m.d.comb += [
            write.payload.address.eq(fetch.payload.address),
            write.payload.words.eq(fetch.payload.words),
            write.payload.enable.eq(fetch.payload.enable),
        ]
    if array.beats > 1:
        m.d.comb += write.payload.beat.eq(Mux(clear.valid, clear.beat, fetch.payload.beat))


def _connect_ends(m: Module, core: wiring.Component, units: CoreUnits) -> None:
    """Wavefronts that have ended."""
    scheduler, retirement, states = units.scheduler, units.retirement, units.states
    connect_retirement(m, core, retirement, units.outputs, contexts=states.ended_contexts, states=states.ended)
    connect(m, scheduler.ended, retirement.ended)
    m.d.comb += [
        scheduler.release.valid.eq(retirement.release.valid),
        scheduler.release.context.eq(retirement.release.context),
    ]


def connect_retirement(
    m: Module,
    core: wiring.Component,
    retirement: Retirement,
    outputs: OutputRegisters,
    *,
    contexts: Sequence[Signal],
    states: Sequence[data.View],
) -> None:
    """Wire the retirement to a core's border, its output registers and two readers of states.

    `contexts` are the addresses of the readers, `states` their data.
    """
    connect(m, retirement.tester, flipped(core.tests))
    connect(m, retirement.outputs, outputs.sent)
    connect(m, retirement.conditional, outputs.tested)
    m.d.comb += [
        # Lanes of the border that the output registers do not give stay 0: nothing is written.
        core.output.valid.eq(retirement.output.valid),
        retirement.output.ready.eq(core.output.ready),
        *(core.output.payload[name].eq(retirement.output.payload[name]) for name in ("target", "i", "j")),
        *(
            core.output.payload[name][lane].eq(value)
            for name in ("words", "mask")
            for lane, value in enumerate(retirement.output.payload[name])
        ),
        contexts[_OUTPUT].eq(retirement.outputs.next_context),
        contexts[_TEST].eq(retirement.conditional.context),
        retirement.state.eq(states[_OUTPUT]),
        retirement.tested_state.eq(states[_TEST]),
        retirement.program.eq(core.launched),
    ]

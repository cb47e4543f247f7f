"""What every core is made of, whatever its instruction set, and how that is wired.

An instruction set's core adds its ports and its code between scheduler, registers and memory; docs/architecture.md has
the picture.
"""

from dataclasses import dataclass
from typing import Any

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import connect, flipped

from ctm.rtl.config import ArrayConfig, MachineConfig
from ctm.rtl.dpp.groups.retirement import Retirement
from ctm.rtl.dpp.groups.scheduler import Scheduler
from ctm.rtl.dpp.groups.starter import Starter
from ctm.rtl.dpp.groups.state import GroupStates
from ctm.rtl.dpp.memory.coordinates import Coordinates
from ctm.rtl.dpp.memory.lookup_return import LookupReturn
from ctm.rtl.dpp.memory.lookups import passenger_layout
from ctm.rtl.dpp.memory.scoreboard import Scoreboard
from ctm.rtl.dpp.memory.uncached_writes import UncachedWrites
from ctm.rtl.dpp.registers.file import RegisterFile
from ctm.rtl.dpp.registers.outputs import OutputRegisters
from ctm.rtl.dpp.registers.placement import Placement, allocate, usable_slots
from ctm.rtl.dpp.shapes import Shapes

_OUTPUT, _TEST = range(2)
"""Readers of the states of groups at their end."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CoreParts:
    """The parts, submodules of the core by the same names."""

    scheduler: Scheduler
    states: GroupStates
    registers: RegisterFile
    outputs: OutputRegisters
    outstanding: Scoreboard
    starter: Starter
    coordinates: Coordinates
    lookups: LookupReturn
    uncached: UncachedWrites
    retirement: Retirement


def add_parts(m: Module, config: MachineConfig, shapes: Shapes, *, readers: int) -> CoreParts:
    """Make the parts; `readers` read the groups' states."""
    array = config.array
    parts = CoreParts(
        scheduler=Scheduler(array, shapes),
        states=GroupStates(array, shapes, readers),
        registers=RegisterFile(array, shapes),
        outputs=OutputRegisters(array, shapes),
        outstanding=Scoreboard(array),
        starter=Starter(array),
        coordinates=Coordinates(array.at_once, passenger_layout(array, shapes), config.arithmetic),
        lookups=LookupReturn(array, shapes),
        uncached=UncachedWrites(array),
        retirement=Retirement(array, shapes),
    )
    for name, part in vars(parts).items():
        m.submodules[name] = part
    return parts


def connect_parts(m: Module, core: Any, parts: CoreParts, array: ArrayConfig) -> data.View:
    """Wire what needs no instruction set to a core with the members of `core_members`.

    Returns
    -------
    allocation : ``ALLOCATION``
        Where the program's temporaries are, for the ports.
    """
    allocation = allocate(m, core.program.highest_temporary)
    m.d.comb += parts.registers.slot_exponent.eq(allocation.exponent)
    m.d.sync += parts.scheduler.slots.eq(usable_slots(array, allocation.exponent))
    _connect_starts(m, core, parts)
    _connect_outstanding(m, core, parts)
    _connect_lookups(m, core, parts)
    _connect_register_writes(m, parts, array, allocation)
    _connect_ends(m, core, parts, array)
    return allocation


def _connect_starts(m: Module, core: Any, parts: CoreParts) -> None:
    """Groups that come in."""
    scheduler, starter, program = parts.scheduler, parts.starter, core.program
    takes = core.group.valid & core.group.ready
    # What slots there are is known a cycle behind the program, which is there with its first group.
    offered = Signal()
    m.d.sync += offered.eq(core.group.valid)
    starts = (parts.outputs.start, parts.states.start)
    m.d.comb += [
        core.free.eq(scheduler.free),
        core.group.ready.eq(scheduler.free.any() & ~starter.busy & offered),
        scheduler.admit.eq(takes),
        *(start.valid.eq(takes) for start in starts),
        *(start.row.eq(scheduler.free_row) for start in starts),
        parts.states.start.group.eq(core.group.payload),
        parts.states.second.eq(scheduler.second),
        starter.group.valid.eq(takes),
        starter.group.slot.eq(scheduler.free_row[:-1]),
        starter.group.group.eq(core.group.payload),
        starter.highest_temporary.eq(program.highest_temporary),
        scheduler.start.eq(program.start),
        scheduler.begin.eq(starter.begin),
        scheduler.watchdog.eq(program.watchdog),
        core.stalls.eq(scheduler.stalls),
    ]


def _connect_outstanding(m: Module, core: Any, parts: CoreParts) -> None:
    """What groups wait for, and uncached writes on their way."""
    scheduler, outstanding, done = parts.scheduler, parts.outstanding, core.uncached.done
    connect(m, parts.uncached.write, flipped(core.uncached.write))
    m.d.comb += [
        *(getattr(scheduler, name).eq(getattr(outstanding, name)) for name in ("blocked", "full", "quiet")),
        outstanding.returned.eq(parts.lookups.returned),
        done.ready.eq(1),
        outstanding.written.valid.eq(done.valid),
        outstanding.written.slot.eq(done.payload.wave),
    ]


def _connect_lookups(m: Module, core: Any, parts: CoreParts) -> None:
    """Lookups behind their coordinates, and groups that a refused one stops."""
    request, result, lookups = core.lookups.request, parts.coordinates.result, parts.lookups
    connect(m, flipped(core.lookups.response), lookups.response)
    m.d.comb += [
        request.valid.eq(result.valid),
        result.ready.eq(request.ready),
        request.payload.x.eq(result.payload.x),
        request.payload.y.eq(result.payload.y),
        *(request.payload[name].eq(result.payload.passenger[name]) for name, _ in result.payload.passenger.shape()),
        parts.scheduler.stop.valid.eq(lookups.error.valid),
        parts.scheduler.stop.slot.eq(lookups.returned.slot),
    ]


def _connect_register_writes(m: Module, parts: CoreParts, array: ArrayConfig, allocation: data.View) -> None:
    """New groups' temporaries are set before lookups write theirs, which come so often that a group might wait."""
    lookup, clear, write = parts.lookups.write, parts.starter.write, parts.registers.texture_write
    places = [
        Placement(m, array, port.payload.slot, allocation).place(port.payload.register) for port in (lookup, clear)
    ]
    clears = Signal()
    m.d.comb += [
        clears.eq(clear.valid & ~parts.registers.busy.bit_select(places[1].bank, 1)),
        clear.ready.eq(clears),
        lookup.ready.eq(write.ready & ~clears),
        write.valid.eq(lookup.valid | clears),
    ]
    with m.If(clears):
        m.d.comb += [
            write.payload.place.eq(places[1]),
            write.payload.words.eq(clear.payload.words),
            Value.cast(write.payload.enable).eq(~0),
            write.payload.invalidates.eq(1),
        ]
    with m.Else():
        m.d.comb += [
            write.payload.place.eq(places[0]),
            write.payload.words.eq(lookup.payload.words),
            write.payload.enable.eq(lookup.payload.enable),
        ]
    if array.beats > 1:
        m.d.comb += write.payload.beat.eq(Mux(clears, clear.payload.beat, lookup.payload.beat))


def _connect_ends(m: Module, core: Any, parts: CoreParts, array: ArrayConfig) -> None:
    """Groups that are at their end."""
    scheduler, retirement, states = parts.scheduler, parts.retirement, parts.states
    connect_retirement(m, core, array, retirement, parts.outputs, rows=states.ended_rows, states=states.ended)
    m.d.comb += [
        scheduler.can_retire.eq(retirement.ready),
        retirement.group.eq(scheduler.retire),
        scheduler.release.valid.eq(retirement.release.valid),
        scheduler.release.row.eq(retirement.release.row),
    ]


def connect_retirement(
    m: Module,
    core: Any,
    array: ArrayConfig,
    retirement: Retirement,
    outputs: OutputRegisters,
    *,
    rows: Any,
    states: Any,
) -> None:
    """Wire the retirement to a core's border and its output registers, and two readers of states at their end to it.

    `rows` are what the readers are asked for, `states` what they answer.
    """
    connect(m, retirement.tester, flipped(core.tests))
    m.d.comb += [
        # A core whose output registers give fewer lanes at once leaves the others of its border at 0: nothing of them.
        core.output.valid.eq(retirement.output.valid),
        retirement.output.ready.eq(core.output.ready),
        *(core.output.payload[name].eq(retirement.output.payload[name]) for name in ("target", "i", "j")),
        *(
            core.output.payload[name][lane].eq(value)
            for name in ("words", "mask")
            for lane, value in enumerate(retirement.output.payload[name])
        ),
        rows[_OUTPUT].eq(retirement.row),
        rows[_TEST].eq(retirement.test_row),
        retirement.state.eq(states[_OUTPUT]),
        retirement.test_state.eq(states[_TEST]),
        retirement.program.eq(core.program),
        outputs.row.eq(retirement.row),
        outputs.target.eq(retirement.target),
        outputs.conditional_row.eq(retirement.test_row),
        retirement.words.eq(outputs.words),
        retirement.written.eq(outputs.written),
        retirement.conditional.eq(outputs.conditional),
        retirement.conditional_written.eq(outputs.conditional_written),
    ]
    if array.beats > 1:
        m.d.comb += [outputs.beat.eq(retirement.beat), outputs.conditional_beat.eq(retirement.test_beat)]

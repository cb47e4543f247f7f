"""The state of all groups, but for their registers and PCs.

What a group needs until its outputs are sent stands in the rows, two for each slot; all else in one for each slot.
"""

from collections.abc import Iterable
from typing import Any

from amaranth import Cat, Module, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.programs import group_layout
from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.groups.scheduling import row_bits, slot_bits
from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.lib.table import Table
from ctm.rtl.r5xx.state import control_state_layout

_STACKS = ("frames", "returns")


def _control_fields(lanes: int) -> dict[str, Any]:
    """The control state, but for PC and stacks."""
    return {name: field.shape for name, field in control_state_layout(lanes) if name not in (*_STACKS, "pc")}


def stacks_layout(lanes: int) -> data.StructLayout:
    """Both stacks of a group."""
    control = control_state_layout(lanes)
    return data.StructLayout({name: control[name].shape for name in _STACKS})


def end_state_layout(lanes: int) -> data.StructLayout:
    """What is left of a group at its end: its place, and its processors that are covered and alive."""
    return data.StructLayout({**{name: field.shape for name, field in group_layout(lanes)}, "live": lanes})


def group_state_layout(lanes: int) -> data.StructLayout:
    """A group's state: its place, its processors' states, its control state without PC and stacks.

    `predicates` are of the red bit all lanes, then green, blue, alpha.
    """
    return data.StructLayout(
        {
            **{name: field.shape for name, field in group_layout(lanes)},
            "live": lanes,
            "predicates": CHANNELS * lanes,
            "alu_result": lanes,
            **_control_fields(lanes),
        }
    )


def lane_predicates(group: data.View, lane: int, lanes: int) -> Value:
    """One processor's predicates, red in bit 0."""
    return Cat(group.predicates[channel * lanes + lane] for channel in range(CHANNELS))


class GroupStates(wiring.Component):
    """Keeps the state of every slot's group, and what groups that have left their slots need.

    Reads are combinational and see what was written in earlier cycles.

    Members
    -------
    second : ``In(threads)``
        Slots whose group has the second of the slot's rows.
    slots : ``In`` for each reader
    groups : ``Out(group_state_layout(lanes))`` for each reader
    stacks_slot, stacks
        One more reader, of the stacks.
    ended_rows : ``In(row)``, 2 of them
    ended : ``Out(end_state_layout(lanes))`` for each of them
    start : ``In({valid, row, group})``
        A group takes a slot and this row: nothing but its place and coverage is set, all processors are alive and
        active.
    control : ``In({valid, slot, state})``
        Flow control has changed the control state.
    live : ``In({valid, slot, live})``
    flags : ``In({valid, slot, predicates, alu_result})``
    """

    def __init__(self, config: ArrayConfig, readers: int) -> None:
        self._config, self._readers = config, readers
        lanes, slot = config.lanes, slot_bits(config)

        def event(**fields: Any) -> Any:
            return In(data.StructLayout({"valid": 1, "slot": slot, **fields}))

        super().__init__(
            {
                "second": In(config.threads),
                "slots": In(slot).array(readers),
                "groups": Out(group_state_layout(lanes)).array(readers),
                "stacks_slot": In(slot),
                "stacks": Out(stacks_layout(lanes)),
                "ended_rows": In(row_bits(config)).array(2),
                "ended": Out(end_state_layout(lanes)).array(2),
                "start": In(data.StructLayout({"valid": 1, "row": row_bits(config), "group": group_layout(lanes)})),
                "control": event(state=control_state_layout(lanes)),
                "live": event(live=lanes),
                "flags": event(predicates=CHANNELS * lanes, alu_result=lanes),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        lanes, threads = self._config.lanes, self._config.threads
        places = Table(group_layout(lanes), 2 * threads)
        live = Table(data.StructLayout({"live": lanes}), 2 * threads)
        flags = Table(data.StructLayout({"predicates": CHANNELS * lanes, "alu_result": lanes}), threads)
        control = Table(data.StructLayout(_control_fields(lanes)), threads)
        stacks = Table(stacks_layout(lanes), threads)
        by_row, by_slot = {"places": places, "live": live}, {"flags": flags, "control": control}
        for name, table in {**by_row, **by_slot, "stacks": stacks}.items():
            m.submodules[name] = table

        def read(state: data.View, tables: Iterable[Table], number: Value) -> None:
            for table in tables:
                found = table.read(m, number)
                m.d.comb += [state[name].eq(found[name]) for name, _ in found.shape()]

        for slot, state in zip(self.slots, self.groups, strict=True):
            read(state, by_row.values(), self._row(slot))
            read(state, by_slot.values(), slot)
        for row, state in zip(self.ended_rows, self.ended, strict=True):
            read(state, by_row.values(), row)
        m.d.comb += self.stacks.eq(stacks.read(m, self.stacks_slot))

        start, everybody = self.start, (1 << lanes) - 1
        first_control = control.shape.const({"active": everybody})
        places.write(m, start.row, start.group, start.valid)
        live.write(m, start.row, everybody, start.valid)
        flags.write(m, start.row[:-1], 0, start.valid)
        control.write(m, start.row[:-1], first_control, start.valid)

        live.write(m, self._row(self.live.slot), self.live.live, self.live.valid)
        flags.write(m, self.flags.slot, Cat(self.flags.predicates, self.flags.alu_result), self.flags.valid)
        changed = self.control
        for table in (control, stacks):
            contents = Cat(Value.cast(changed.state[name]) for name, _ in table.shape)
            table.write(m, changed.slot, contents, changed.valid)
        return m

    def _row(self, slot: Value) -> Value:
        """The row of a slot's group."""
        return Cat(slot, self.second.bit_select(slot, 1))

"""The state of all groups, but for their registers and PCs.

What a group needs until its outputs are sent stands in the rows, two for each slot; all else in one for each slot.
"""

from collections.abc import Iterable
from typing import Any

from amaranth import Cat, Module, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.programs import wavefront_layout
from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.groups.scheduling import row_bits, slot_bits
from ctm.rtl.dpp.shapes import Shapes
from ctm.rtl.lib.ram import DistributedRam, LazyTable


def end_state_layout(lanes: int) -> data.StructLayout:
    """What is left of a group at its end: its place, and its processors that are covered and valid."""
    return data.StructLayout({**{name: field.shape for name, field in wavefront_layout(lanes)}, "valid_mask": lanes})


def group_state_layout(shapes: Shapes, lanes: int) -> data.StructLayout:
    """A group's state: its place, its processors that are valid, and what the instruction set keeps but for stacks."""
    parts = (wavefront_layout(lanes), shapes.flags(lanes), shapes.control(lanes))
    place, flags, control = ({name: field.shape for name, field in part} for part in parts)
    return data.StructLayout({**place, "valid_mask": lanes, **flags, **control})


class GroupStates(wiring.Component):
    """Keeps the state of every slot's group, and what groups that have left their slots need.

    Reads are combinational and see what was written in earlier cycles.

    Members
    -------
    second : ``In(threads)``
        Slots whose group has the second of the slot's rows.
    slots : ``In`` for each reader
    groups : ``Out(group_state_layout(shapes, lanes))`` for each reader
    stacks_slot, stacks
        One more reader, of the stacks.
    ended_rows : ``In(row)``, 2 of them
    ended : ``Out(end_state_layout(lanes))`` for each of them
    start : ``In({valid, row, group})``
        A group takes a slot and this row: its place and coverage are set, and what `first_control` has; all processors
        are valid.
    control : ``In({valid, slot, control, stacks})``
        What steers the group has changed.
    valid_mask : ``In({valid, slot, valid_mask})``
    flags : ``In({valid, slot, flags})``
    """

    def __init__(self, config: ArrayConfig, shapes: Shapes, readers: int) -> None:
        self._config, self._shapes = config, shapes
        lanes, slot = config.lanes, slot_bits(config)

        def event(**fields: Any) -> Any:
            return In(data.StructLayout({"valid": 1, "slot": slot, **fields}))

        super().__init__(
            {
                "second": In(config.threads),
                "slots": In(slot).array(readers),
                "groups": Out(group_state_layout(shapes, lanes)).array(readers),
                "stacks_slot": In(slot),
                "stacks": Out(shapes.stacks(lanes)),
                "ended_rows": In(row_bits(config)).array(2),
                "ended": Out(end_state_layout(lanes)).array(2),
                "start": In(data.StructLayout({"valid": 1, "row": row_bits(config), "group": wavefront_layout(lanes)})),
                "control": event(control=shapes.control(lanes), stacks=shapes.stacks(lanes)),
                "valid_mask": event(valid_mask=lanes),
                "flags": event(flags=shapes.flags(lanes)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        lanes, threads, shapes = self._config.lanes, self._config.threads, self._shapes
        places = DistributedRam(wavefront_layout(lanes), 2 * threads)
        valid_mask = LazyTable(data.StructLayout({"valid_mask": lanes}), 2 * threads, first=(1 << lanes) - 1)
        flags = LazyTable(shapes.flags(lanes), threads)
        control_layout: Any = shapes.control(lanes)
        first_control = control_layout.const(shapes.first_control(lanes))
        control = LazyTable(control_layout, threads, first=first_control.as_value())
        stacks = DistributedRam(shapes.stacks(lanes), threads)
        by_row, by_slot = {"places": places, "valid_mask": valid_mask}, {"flags": flags, "control": control}
        for name, table in {**by_row, **by_slot, "stacks": stacks}.items():
            m.submodules[name] = table

        def read(state: data.View, tables: Iterable[DistributedRam], number: Value) -> None:
            for table in tables:
                found = table.read(m, number)
                m.d.comb += [state[name].eq(found[name]) for name, _ in found.shape()]

        for slot, state in zip(self.slots, self.groups, strict=True):
            read(state, by_row.values(), self._row(slot))
            read(state, by_slot.values(), slot)
        for row, state in zip(self.ended_rows, self.ended, strict=True):
            read(state, by_row.values(), row)
        m.d.comb += self.stacks.eq(stacks.read(m, self.stacks_slot))

        start = self.start
        places.write(m, start.row, start.group, start.valid)
        valid_mask.write(m, self._row(self.valid_mask.slot), self.valid_mask.valid_mask, self.valid_mask.valid)
        flags.write(m, self.flags.slot, self.flags.flags, self.flags.valid)
        changed = self.control
        control.write(m, changed.slot, changed.control, changed.valid)
        stacks.write(m, changed.slot, changed.stacks, changed.valid)
        valid_mask.start(m, start.row, start.valid)
        flags.start(m, start.row[:-1], start.valid)
        control.start(m, start.row[:-1], start.valid)
        return m

    def _row(self, slot: Value) -> Value:
        """The row of a slot's group."""
        return Cat(slot, self.second.bit_select(slot, 1))

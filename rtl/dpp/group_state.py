"""The state of all resident groups, but for their registers and PCs: one row for each slot."""

from typing import Any

from amaranth import Cat, Module, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from rtl.config import ArrayConfig
from rtl.dpp.control_state import control_state_layout
from rtl.dpp.scheduling import slot_bits
from rtl.isa.limits import CHANNELS
from rtl.lib.table import Table
from rtl.pe.border import group_layout

_STACKS = ("frames", "returns")


def _control_fields(lanes: int) -> dict[str, Any]:
    """The control state, but for PC and stacks."""
    return {name: field.shape for name, field in control_state_layout(lanes) if name not in (*_STACKS, "pc")}


def stacks_layout(lanes: int) -> data.StructLayout:
    """Both stacks of a group."""
    control = control_state_layout(lanes)
    return data.StructLayout({name: control[name].shape for name in _STACKS})


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
    """Keeps the state of every slot's group.

    Reads are combinational and see what was written in earlier cycles.

    Members
    -------
    slots : ``In`` for each reader
    groups : ``Out(group_state_layout(lanes))`` for each reader
    stacks_slot, stacks
        One more reader, of the stacks.
    start : ``In({valid, slot, group})``
        A group takes the slot: nothing but its place and coverage is set, all processors are alive and active.
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
                "slots": In(slot).array(readers),
                "groups": Out(group_state_layout(lanes)).array(readers),
                "stacks_slot": In(slot),
                "stacks": Out(stacks_layout(lanes)),
                "start": event(group=group_layout(lanes)),
                "control": event(state=control_state_layout(lanes)),
                "live": event(live=lanes),
                "flags": event(predicates=CHANNELS * lanes, alu_result=lanes),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        lanes, threads = self._config.lanes, self._config.threads
        places = Table(group_layout(lanes), threads)
        live = Table(data.StructLayout({"live": lanes}), threads)
        flags = Table(data.StructLayout({"predicates": CHANNELS * lanes, "alu_result": lanes}), threads)
        control = Table(data.StructLayout(_control_fields(lanes)), threads)
        stacks = Table(stacks_layout(lanes), threads)
        tables = {"places": places, "live": live, "flags": flags, "control": control}
        for name, table in {**tables, "stacks": stacks}.items():
            m.submodules[name] = table
        for number in range(self._readers):
            for table in tables.values():
                row = table.read(m, self.slots[number])
                m.d.comb += [self.groups[number][name].eq(row[name]) for name, _ in row.shape()]
        m.d.comb += self.stacks.eq(stacks.read(m, self.stacks_slot))

        start, everybody = self.start, (1 << lanes) - 1
        first_control = control.shape.const({"active": everybody})
        places.write(m, start.slot, start.group, start.valid)
        live.write(m, start.slot, everybody, start.valid)
        flags.write(m, start.slot, 0, start.valid)
        control.write(m, start.slot, first_control, start.valid)

        live.write(m, self.live.slot, self.live.live, self.live.valid)
        flags.write(m, self.flags.slot, Cat(self.flags.predicates, self.flags.alu_result), self.flags.valid)
        changed = self.control
        for table in (control, stacks):
            contents = Cat(Value.cast(changed.state[name]) for name, _ in table.shape)
            table.write(m, changed.slot, contents, changed.valid)
        return m

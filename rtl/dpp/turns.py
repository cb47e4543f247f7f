"""A group in turns: what computes and carries words is built for fewer lanes than a group has, and takes these in turn.

The lanes of turn 0 are the group's first ones. Where a group has one turn only, its number has no bits.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import Member, Out

from ctm.rtl.config import ArrayConfig
from ctm.rtl.lib.pipeline import delay

ONLY_TURN = Const(0, 0)
"""The number of a turn where there is one."""


def turn_bits(config: ArrayConfig) -> int:
    """Width of a turn's number."""
    return (config.turns - 1).bit_length()


def turn_fields(config: ArrayConfig) -> dict[str, int]:
    """The field `turn` of a layout, if there are several."""
    return {"turn": turn_bits(config)} if config.turns > 1 else {}


def turn_members(config: ArrayConfig, flow: Callable[[Any], Member], *names: str) -> dict[str, Member]:
    """Numbers of turns among a component's members, if there are several; `flow` is `In` or `Out`."""
    return {name: flow(turn_bits(config)) for name in names} if config.turns > 1 else {}


def pc_members(config: ArrayConfig, pc_bits: int) -> dict[str, Member]:
    """The member `read_pc` of an issue port with several turns: the instruction to be read for the next cycle."""
    return {"read_pc": Out(pc_bits)} if config.turns > 1 else {}


def turn_of(config: ArrayConfig, holder: Any, name: str = "turn") -> Value:
    """The number of the turn that a view or a component holds."""
    return Value.cast(getattr(holder, name)) if config.turns > 1 else ONLY_TURN


def is_last(config: ArrayConfig, turn: Value) -> Value:
    """Whether it is the group's last turn."""
    return turn == config.turns - 1


def lanes_of(config: ArrayConfig, values: Value | data.View, turn: Value) -> Value:
    """What a turn's lanes have of something that each lane of the group has, lane 0 first."""
    value = Value.cast(values)
    return value.word_select(turn, len(value) // config.turns)


def pair_of(config: ArrayConfig, group: data.View, turn: Value) -> tuple[Value, Value]:
    """The pair of a turn's first lane; `group` has i and j of the group's."""
    if config.turns == 1:
        return group.i, group.j
    lane = Cat(Const(0, config.at_once.bit_length() - 1), turn)
    column, row = Cat(lane[0], lane[2:]), lane[1]
    return (group.i + column)[: len(group.i)], (group.j + row)[: len(group.j)]


@dataclass(frozen=True, kw_only=True)
class Taken:
    """An instruction that an issue port has taken, from the cycle behind its issue on, for as long as it has turns.

    `issue`: slot and PC; `valid` in all its turns. `first`, `last`: this is its first turn, or its last. `ready`:
    another one may be issued. `pc`: that of the instruction which is to be read for the next cycle.
    """

    issue: data.View
    turn: Value
    first: Value
    last: Value
    ready: Value
    pc: Value


def take(m: Module, config: ArrayConfig, issue: data.View) -> Taken:
    """Take what is issued, and keep it for its turns."""
    issued = Signal.like(issue)
    if config.turns == 1:
        m.d.sync += issued.eq(issue)
        return Taken(issue=issued, turn=ONLY_TURN, first=issued.valid, last=issued.valid, ready=Const(1), pc=issue.pc)
    turn, ready = Signal(turn_bits(config)), Signal(name="takes")
    m.d.comb += ready.eq(~issued.valid | is_last(config, turn))
    m.d.sync += turn.eq(Mux(ready, 0, turn + 1))
    with m.If(ready):
        m.d.sync += issued.eq(issue)
    first, last = Signal(name="first_turn"), Signal(name="last_turn")
    m.d.comb += [first.eq(issued.valid & (turn == 0)), last.eq(issued.valid & is_last(config, turn))]
    pc = Mux(ready, issue.pc, issued.pc)
    return Taken(issue=issued, turn=turn, first=first, last=last, ready=ready, pc=pc)


def keep(m: Module, config: ArrayConfig, value: Any, when: Value, *, name: str) -> Any:
    """`value` of the cycle before, for as many cycles as a group has turns: until `when` says that there is another."""
    if config.turns == 1:
        return delay(m, value, name=name)
    kept: Any = Signal(value.shape(), name=name, reset_less=True)
    with m.If(when):
        m.d.sync += kept.eq(value)
    return kept


def counted(m: Module, config: ArrayConfig, valid: Value) -> Value:
    """The number of the turn, where the turns of each group come one after the other, each in a cycle with `valid`."""
    if config.turns == 1:
        return ONLY_TURN
    turn = Signal(turn_bits(config), name="turn")
    m.d.sync += turn.eq(turn + valid)
    return turn


def gathered(m: Module, config: ArrayConfig, part: Value) -> Value:
    """What each lane of a group has, lane 0 first, in the cycle of its last turn; `part` is of this cycle's turn."""
    if config.turns == 1:
        return part
    before = Signal(len(part) * (config.turns - 1), name="before", reset_less=True)
    m.d.sync += before.eq(Cat(before, part)[len(part) :])
    return Cat(before, part)

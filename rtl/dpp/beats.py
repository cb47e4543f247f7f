"""Time-multiplexed wavefronts: units with fewer lanes than a wavefront has take it in several beats.

The lanes of beat 0 are the wavefront's first ones. Where a wavefront has one beat only, its number has no bits.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.hdl import ShapeLike
from amaranth.lib import data, wiring
from amaranth.lib.wiring import Member

from ctm.rtl.lib.pipeline import delay

ONLY_BEAT = Const(0, 0)
"""The number of a beat where there is one."""


class Lanes(Protocol):
    """Lanes that are taken in beats: those of an array's wavefronts, or of the outputs that it keeps."""

    @property
    def at_once(self) -> int:
        """Lanes of a beat."""

    @property
    def beats(self) -> int:
        """Beats of all lanes."""


def beat_bits(lanes: Lanes) -> int:
    """Width of a beat's number."""
    return (lanes.beats - 1).bit_length()


def beat_fields(lanes: Lanes) -> dict[str, int]:
    """The field `beat` of a layout, if there are several."""
    return {"beat": beat_bits(lanes)} if lanes.beats > 1 else {}


def beat_members(lanes: Lanes, flow: Callable[[ShapeLike], Member], *names: str) -> dict[str, Member]:
    """Numbers of beats among a component's members, if there are several; `flow` is `In` or `Out`."""
    return {name: flow(beat_bits(lanes)) for name in names} if lanes.beats > 1 else {}


def beat_of(lanes: Lanes, holder: wiring.Component | data.View, name: str = "beat") -> Value:
    """The number of the beat that a view or a component holds."""
    return Value.cast(getattr(holder, name)) if lanes.beats > 1 else ONLY_BEAT


def is_last(lanes: Lanes, beat: Value) -> Value:
    """Whether it is the wavefront's last beat."""
    return beat == lanes.beats - 1


def lanes_of(lanes: Lanes, values: Value | data.View, beat: Value) -> Value:
    """A beat's lanes of a value that each lane of the wavefront has, lane 0 first."""
    value = Value.cast(values)
    return value.word_select(beat, len(value) // lanes.beats)


def pair_of(lanes: Lanes, wavefront: data.View, beat: Value) -> tuple[Value, Value]:
    """The pair of a beat's first lane; `wavefront` has i and j of the wavefront's."""
    if lanes.beats == 1:
        return wavefront.i, wavefront.j
    lane = Cat(Const(0, lanes.at_once.bit_length() - 1), beat)
    column, row = Cat(lane[0], lane[2:]), lane[1]
    return (wavefront.i + column)[: len(wavefront.i)], (wavefront.j + row)[: len(wavefront.j)]


@dataclass(frozen=True, kw_only=True)
class Taken:
    """An instruction that an issue port has taken: from the cycle after its issue on, for all its beats.

    `issue`: wave slot and PC; `valid` in all its beats. `first`, `last`: this is its first beat, or its last. `ready`:
    another one may be issued, which is read for the next cycle.
    """

    issue: data.View
    beat: Value
    first: Value
    last: Value
    ready: Value


def take(m: Module, lanes: Lanes, issue: data.View) -> Taken:
    """Take what is issued, and hold it for its beats."""
    issued = Signal.like(issue)
    if lanes.beats == 1:
        m.d.sync += issued.eq(issue)
        return Taken(issue=issued, beat=ONLY_BEAT, first=issued.valid, last=issued.valid, ready=Const(1))
    beat, ready = Signal(beat_bits(lanes)), Signal(name="takes")
    m.d.comb += ready.eq(~issued.valid | is_last(lanes, beat))
    m.d.sync += beat.eq(Mux(ready, 0, beat + 1))
    with m.If(ready):
        m.d.sync += issued.eq(issue)
    first, last = Signal(name="first_beat"), Signal(name="last_beat")
    m.d.comb += [first.eq(issued.valid & (beat == 0)), last.eq(issued.valid & is_last(lanes, beat))]
    return Taken(issue=issued, beat=beat, first=first, last=last, ready=ready)


def keep(m: Module, lanes: Lanes, value: Value | data.View, when: Value, *, name: str) -> Any:
    """`value` of the cycle before, held for all beats of a wavefront: until `when`."""
    if lanes.beats == 1:
        return delay(m, value, name=name)
    kept: Any = Signal(value.shape(), name=name, reset_less=True)
    with m.If(when):
        m.d.sync += kept.eq(value)
    return kept


def counted(m: Module, lanes: Lanes, valid: Value) -> Value:
    """The number of the beat, where a wavefront's beats are consecutive, each in a cycle with `valid`."""
    if lanes.beats == 1:
        return ONLY_BEAT
    beat = Signal(beat_bits(lanes), name="beat")
    m.d.sync += beat.eq(beat + valid)
    return beat


def gathered(m: Module, lanes: Lanes, value: Value) -> Value:
    """A value of all lanes, lane 0 first, in the cycle of the last beat; `value` is of this cycle's beat."""
    if lanes.beats == 1:
        return value
    earlier = Signal(len(value) * (lanes.beats - 1), name="earlier", reset_less=True)
    m.d.sync += earlier.eq(Cat(earlier, value)[len(value) :])
    return Cat(earlier, value)

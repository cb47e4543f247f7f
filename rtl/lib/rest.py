"""Units that rest while nobody wants anything of them, and units that pause while nothing in them changes."""

from typing import Any

from amaranth import (
    ClockDomain,
    ClockSignal,
    DomainRenamer,
    Elaboratable,
    Fragment,
    Module,
    ResetInserter,
    ResetSignal,
    Signal,
    Value,
)
from amaranth.lib import wiring
from amaranth.lib.wiring import Flow, In

from ctm.rtl.lib.pipeline import delay, lately

_PAUSING, _RESTING = "pausing", "resting"
"""Clocks of units."""


class ClockGating:
    """The platform of hardware in which a unit that rests or pauses costs nothing: its clock stops.

    That saves a simulation time and a chip energy. A gated clock follows combinationally from the other one, so their
    edges have to be one: Amaranth's own simulator, where registers behind the gate would already see what the others
    have become at that edge, cannot run such hardware.

    What decides about a clock (`wanted`, `active`) and a unit's operands are taken when the clock falls, so neither may
    follow from the outputs of a resting unit without a register in between.
    """


def _gate(m: Module, name: str, works: Value) -> None:
    """Make a clock that ticks at the end of cycles with `works`."""
    awake, decides = Signal(init=1), f"{name}_gate"
    m.domains += ClockDomain(name, local=True)
    m.domains += ClockDomain(decides, local=True, clk_edge="neg", reset_less=True)
    m.d[decides] += awake.eq(works)
    m.d.comb += [
        ClockSignal(decides).eq(ClockSignal()),
        ClockSignal(name).eq(ClockSignal() & awake),
        ResetSignal(name).eq(ResetSignal()),
    ]


def _operands(name: str) -> str:
    """The clock of the operands of units with the clock `name`."""
    return f"{name}_operands"


def rest_together(m: Module, platform: object, name: str, wanted: Value, cycles: int, *, begins: int = 0) -> None:
    """Let units inside `m` that name it rest together, but in cycles with `wanted` and in the `cycles` behind.

    With `begins` all of that is so many cycles later. A simulator looks at each clock in each cycle, so one for many
    units that are wanted together takes less time. It is no hardware without the platform `ClockGating`.
    """
    if not isinstance(platform, ClockGating):
        return
    works = Signal(name=f"{name}_work")
    _gate(m, name, works)
    m.domains += ClockDomain(_operands(name), local=True, reset_less=True)
    m.d.comb += [
        works.eq(lately(m, delay(m, wanted, begins, name=f"{name}_wanted"), cycles)),
        ClockSignal(_operands(name)).eq(~ClockSignal() & works),
    ]


def resettable(unit: Elaboratable, reset: Value) -> Any:
    """A unit with one more reset, which must last two cycles at least, so that units that pause see it."""
    return ResetInserter({"sync": reset, _PAUSING: reset})(unit)


class Pausing(Elaboratable):
    """A unit in which nothing that matters changes but in cycles with `active`, and in the one behind.

    Its outputs may follow from its inputs in the same cycle. Without the platform `ClockGating` it is the unit itself;
    with it, its parts have no gates of their own.
    """

    def __init__(self, unit: Elaboratable, active: Value) -> None:
        self._unit, self._active = unit, active

    def elaborate(self, platform: object) -> Any:
        """Build the hardware."""
        if not isinstance(platform, ClockGating):
            return self._unit
        m = Module()
        # 1 in the cycle behind a reset, hard or soft; therefore a soft one must last for two.
        is_new = Signal(init=1)
        m.d.sync += is_new.eq(0)
        _gate(m, _PAUSING, lately(m, self._active, 1) | is_new | ResetSignal())
        m.submodules.unit = DomainRenamer(_PAUSING)(Fragment.get(self._unit, None))
        return m


class Resting(wiring.Component):
    """A unit that works only on operands that are wanted; it takes them in that cycle and in the `cycles` behind.

    It is combinational, or a pipeline of at most that many registers, which have no reset and mean nothing until
    somebody says so. At its outputs nobody looks but for what comes of wanted operands. Without the platform
    `ClockGating` it is the unit itself; with it, its parts have no gates of their own.

    Members
    -------
    wanted : ``In(1)``
        The operands of this cycle are. A unit that rests with others has none.
    all others : the unit's

    `together` is the name that `rest_together` has for a unit that rests with others; the cycles are then there, too.
    """

    def __init__(self, unit: wiring.Component, cycles: int = 0, *, together: str | None = None) -> None:
        self._unit, self._cycles, self._together = unit, cycles, together
        super().__init__({**unit.signature.members, **({"wanted": In(1)} if together is None else {})})

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        is_gated = isinstance(platform, ClockGating)
        name = self._together or _RESTING
        if self._together is None:
            rest_together(m, platform, name, self.wanted, self._cycles)
        m.submodules.unit = DomainRenamer(name)(Fragment.get(self._unit, None)) if is_gated else self._unit
        # They are taken in the middle of a cycle, when all is settled.
        domain = m.d[_operands(name)] if is_gated else m.d.comb
        results = []
        pairs = zip(self._unit.signature.flatten(self), self._unit.signature.flatten(self._unit), strict=True)
        for (_, member, outer), (_, _, inner) in pairs:
            if member.flow is Flow.In:
                domain += inner.eq(outer)
            else:
                results.append(outer.eq(inner))
        if is_gated and self._together is None and not self._cycles:
            # Without a condition a simulator would compute what the unit's last step is where the result is used.
            with m.If(self.wanted):
                m.d.comb += results
        else:
            m.d.comb += results
        return m

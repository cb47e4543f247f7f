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

from ctm.rtl.lib.pipeline import lately

_PAUSING, _RESTING, _OPERANDS, _GATE = "pausing", "resting", "operands", "gate"
"""Clocks of units, of a resting unit's operands, and of what decides about a unit's clock."""


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
    awake = Signal(init=1)
    m.domains += ClockDomain(name, local=True)
    m.domains += ClockDomain(_GATE, local=True, clk_edge="neg", reset_less=True)
    m.d[_GATE] += awake.eq(works)
    m.d.comb += [
        ClockSignal(_GATE).eq(ClockSignal()),
        ClockSignal(name).eq(ClockSignal() & awake),
        ResetSignal(name).eq(ResetSignal()),
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
        The operands of this cycle are.
    all others : the unit's
    """

    def __init__(self, unit: wiring.Component, cycles: int = 0) -> None:
        self._unit, self._cycles = unit, cycles
        super().__init__({**unit.signature.members, "wanted": In(1)})

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        is_gated = isinstance(platform, ClockGating)
        m.submodules.unit = self._gated(m) if is_gated else self._unit
        domain = m.d[_OPERANDS] if is_gated else m.d.comb
        for name, member in self._unit.signature.members.items():
            outer, inner = getattr(self, name), getattr(self._unit, name)
            if member.flow is Flow.In:
                domain += inner.eq(outer)
            else:
                m.d.comb += outer.eq(inner)
        return m

    def _gated(self, m: Module) -> Any:
        """The unit with its own clock; its operands are taken in the middle of a cycle, when all is settled."""
        works = Signal()
        _gate(m, _RESTING, works)
        m.domains += ClockDomain(_OPERANDS, local=True, reset_less=True)
        m.d.comb += [
            works.eq(lately(m, self.wanted, self._cycles)),
            ClockSignal(_OPERANDS).eq(~ClockSignal() & works),
        ]
        return DomainRenamer(_RESTING)(Fragment.get(self._unit, None))

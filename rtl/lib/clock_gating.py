"""Clock gating: of stateless units whose results are not used, and of units whose state does not change."""

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

from ctm.rtl.lib.pipeline import delay, recently

_GATED, _STATELESS = "gated", "stateless"
"""Clock domains of gated units."""


class ClockGating:
    """The platform of hardware with clock gates: the clock of an idle unit stops.

    That saves a simulation time and a chip energy. A gated clock follows combinationally from the free-running one, so
    both must have the same edge. Amaranth's own simulator cannot run such hardware: there, registers in the gated
    domain would see the new values of the others at that edge.

    The enable of a clock (`wanted`, `active`) and a unit's operands are sampled at the falling edge. Neither may follow
    from the outputs of a stateless gated unit without a register in between.
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
    """The clock domain of the operands of units in the domain `name`."""
    return f"{name}_operands"


def gate_together(m: Module, platform: object, name: str, wanted: Value, cycles: int, *, begins: int = 0) -> None:
    """Make one clock for stateless units inside `m`, which ticks in cycles with `wanted` and in the `cycles` after.

    With `begins` all of that is so many cycles later. A simulator evaluates each clock in each cycle, so one clock for
    units that are wanted together takes less time. Without the platform `ClockGating` it adds no hardware.
    """
    if not isinstance(platform, ClockGating):
        return
    works = Signal(name=f"{name}_work")
    _gate(m, name, works)
    m.domains += ClockDomain(_operands(name), local=True, reset_less=True)
    m.d.comb += [
        works.eq(recently(m, delay(m, wanted, begins, name=f"{name}_wanted"), cycles)),
        ClockSignal(_operands(name)).eq(~ClockSignal() & works),
    ]


def resettable(unit: Elaboratable, reset: Value) -> Any:
    """A unit with one more reset, which must last two cycles at least, so that gated units see it."""
    return ResetInserter({"sync": reset, _GATED: reset})(unit)


class Gated(Elaboratable):
    """Gates a unit with state: it changes only in cycles with `active`, and in the one after.

    Its outputs may follow from its inputs in the same cycle. Without the platform `ClockGating` it is the unit itself;
    with it, its submodules have no gates of their own.
    """

    def __init__(self, unit: Elaboratable, active: Value) -> None:
        self._unit, self._active = unit, active

    def elaborate(self, platform: object) -> Any:
        """Build the hardware."""
        if not isinstance(platform, ClockGating):
            return self._unit
        m = Module()
        # 1 in the cycle after a reset, hard or soft; therefore a soft one must last for two.
        is_new = Signal(init=1)
        m.d.sync += is_new.eq(0)
        _gate(m, _GATED, recently(m, self._active, 1) | is_new | ResetSignal())
        m.submodules.unit = DomainRenamer(_GATED)(Fragment.get(self._unit, None))
        return m


class GatedStateless(wiring.Component):
    """Gates a stateless unit: its clock ticks in cycles with `wanted` operands and in the `cycles` after.

    The unit is combinational, or a pipeline of at most `cycles` registers without reset. Its outputs are used for
    wanted operands only. Without the platform `ClockGating` it is the unit itself; with it, its submodules have no
    gates of their own.

    Members
    -------
    wanted : ``In(1)``
        The operands of this cycle are used. A unit with a shared clock has no such port.
    all others : the unit's

    `together` is the name of a clock that several units share (`gate_together`), which then has the cycles.
    """

    def __init__(self, unit: wiring.Component, cycles: int = 0, *, together: str | None = None) -> None:
        self._unit, self._cycles, self._together = unit, cycles, together
        super().__init__({**unit.signature.members, **({"wanted": In(1)} if together is None else {})})

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        is_gated = isinstance(platform, ClockGating)
        name = self._together or _STATELESS
        if self._together is None:
            gate_together(m, platform, name, self.wanted, self._cycles)
        m.submodules.unit = DomainRenamer(name)(Fragment.get(self._unit, None)) if is_gated else self._unit
        # Operands are sampled in the middle of a cycle, when all is settled.
        domain = m.d[_operands(name)] if is_gated else m.d.comb
        results = []
        pairs = zip(self._unit.signature.flatten(self), self._unit.signature.flatten(self._unit), strict=True)
        for (_, member, outer), (_, _, inner) in pairs:
            if member.flow is Flow.In:
                domain += inner.eq(outer)
            else:
                results.append(outer.eq(inner))
        if is_gated and self._together is None and not self._cycles:
            # Without the condition a simulator would compute the unit's last stage where the result is used.
            with m.If(self.wanted):
                m.d.comb += results
        else:
            m.d.comb += results
        return m

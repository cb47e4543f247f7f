"""Units that rest while nobody wants anything of them."""

from typing import Any

from amaranth import ClockDomain, ClockSignal, DomainRenamer, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import Flow, In

from rtl.lib.pipeline import lately

_RESTING, _OPERANDS, _GATE = "resting", "operands", "gate"
"""Clocks of the unit, of its operands, and of what decides about the unit's."""


class ClockGating:
    """The platform of hardware in which a unit that rests costs nothing: its clock stops and its operands stay.

    That saves a simulation time and a chip energy. A gate is combinational: a simulator must not let registers of the
    gated clock see what those of the other one have become at the same edge, as Amaranth's own does.
    """


class Resting(wiring.Component):
    """A unit that works only on operands that are wanted, for `cycles` cycles on each.

    It is combinational, or a pipeline of that many registers, which have no reset and mean nothing until somebody
    says so. At its outputs nobody looks but for what comes of wanted operands. Those of another unit that rests it may
    have as operands behind a register only. Without the platform `ClockGating` it is the unit itself.

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
        works, awake = Signal(), Signal(init=1)
        for name, edge in ((_RESTING, "pos"), (_OPERANDS, "pos"), (_GATE, "neg")):
            m.domains += ClockDomain(name, local=True, clk_edge=edge, reset_less=True)
        m.d[_GATE] += awake.eq(works)
        m.d.comb += [
            works.eq(lately(m, self.wanted, self._cycles)),
            ClockSignal(_GATE).eq(ClockSignal()),
            ClockSignal(_OPERANDS).eq(~ClockSignal() & works),
            ClockSignal(_RESTING).eq(ClockSignal() & awake),
        ]
        return DomainRenamer(_RESTING)(self._unit)

"""Which lanes may write: predicates and the active mask gate every write. Source: CTM Guide pp. 29-32."""

from dataclasses import dataclass

from ctm.sim.engines.fast.r5xx.registers import Registers
from ctm.sim.engines.fast.vector.lanes import Lanes, Value
from ctm.sim.golden.r5xx.instruction import Common


@dataclass(frozen=True)
class Gates:
    """Gates of a program; with `uniform` flow control every lane is active until its wavefront ends."""

    lanes: Lanes
    registers: Registers
    uniform: bool

    def base(self, *, write_inactive: bool = False) -> Value | None:
        """Lanes that execute, with `write_inactive` also those that are inactive; None for all.

        All do with `uniform`: what lanes of wavefronts that ended write is nowhere visible then.
        """
        if self.uniform:
            return None
        here = self.registers.mask(self.registers.here)
        if write_inactive:
            return here
        return self.lanes.builder.and_(here, self.registers.mask(self.registers.active))

    def of(self, common: Common, channel: int, base: Value | None) -> Value | None:
        """The lanes of `base` whose predicate lets them write a channel, None for all."""
        predicate = common.predicate(channel)
        if predicate.is_never:
            return self.lanes.none
        bit = predicate.bit(channel)
        if bit is None:
            return base
        chosen = self.registers.mask(self.registers.predicates[bit])
        if predicate.inverted:
            chosen = self.lanes.builder.not_(chosen)
        return chosen if base is None else self.lanes.builder.and_(base, chosen)

    def store(self, pointer: Value | None, value: Value, gate: Value | None) -> None:
        """Store `value` at a pointer, if there is one, in the lanes of `gate`."""
        if pointer is None:
            return
        builder = self.lanes.builder
        if gate is not None:
            value = self.lanes.where(gate, value, builder.load(pointer, typ=value.type))
        builder.store(value, pointer)

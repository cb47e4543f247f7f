"""Effects of a group's results beside registers: on masks, the predicate, valid pixels, address registers.

Source: R700-Family Instruction Set Architecture, sections 4.4, 4.9 and 4.10; docs/design/r700-core.md.
"""

from functools import reduce
from operator import and_, or_

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r700.alu import PredicateSelect
from ctm.rtl.isa.r700.limits import GROUP_SLOTS
from ctm.rtl.lib.encoding import lowest_one
from ctm.rtl.r700.alu.decode import INDICES
from ctm.rtl.r700.alu.instructions import EFFECT
from ctm.rtl.r700.border.alu_clause import address_layout, masks_layout


class GroupEffects(wiring.Component):
    """The masks after a group. Combinational.

    Members
    -------
    effects : ``In(ArrayLayout(EFFECT, 5))``
    executing : ``In(size)``
    before, after : ``masks_layout(size)``
    predicate : ``In(size)``
        Of the group's PRED_SET.
    kill : ``In(ArrayLayout(size, 5))``
    gates : ``Out(ArrayLayout(size, 5))``
        Pixels in which each slot's instruction writes.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        super().__init__(
            {
                "effects": In(data.ArrayLayout(EFFECT, GROUP_SLOTS)),
                "executing": In(size),
                "before": In(masks_layout(size)),
                "after": Out(masks_layout(size)),
                "predicate": In(size),
                "kill": In(data.ArrayLayout(size, GROUP_SLOTS)),
                "gates": Out(data.ArrayLayout(size, GROUP_SLOTS)),
            }
        )

    latency = 0

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        before, after, effects = self.before, self.after, [self.effects[slot] for slot in range(GROUP_SLOTS)]
        killed: Value = Const(0)
        for slot, effect in enumerate(effects):
            gate = self.gates[slot]
            m.d.comb += gate.eq(self.executing)
            with m.Switch(effect.predicate):
                with m.Case(PredicateSelect.ONE):
                    m.d.comb += gate.eq(self.executing & before.predicate)
                with m.Case(PredicateSelect.ZERO):
                    m.d.comb += gate.eq(self.executing & ~before.predicate)
            killed = killed | Mux(effect.kills, gate & self.kill[slot], 0)
        setter, off = Signal(self._size), Signal(self._size)
        to_predicate = Cat(effect.sets_predicate & effect.updates_predicate for effect in effects).any()
        to_masks = Cat(effect.sets_predicate & effect.updates_execute_mask for effect in effects).any()
        m.d.comb += [
            setter.eq(reduce(or_, (Mux(effect.sets_predicate, self.gates[s], 0) for s, effect in enumerate(effects)))),
            off.eq(Mux(to_masks, setter & before.branch_mask & ~self.predicate, 0)),
            after.eq(before),
            after.branch_mask.eq(before.branch_mask & ~off),
            after.cleared.eq(before.cleared | off),
            after.valid_mask.eq(before.valid_mask & ~killed),
        ]
        with m.If(to_predicate):
            m.d.comb += after.predicate.eq((before.predicate & ~setter) | (self.predicate & setter))
        return m


class AddressRegisters(wiring.Component):
    """The indices that a group reads of the address registers, and its writes of them. Combinational.

    Members
    -------
    kept : ``In(address_layout(size))``
    is_set : ``In(1)``
        A group of the clause has set them; else they are 0.
    pixels : ``In(size)``
        The pixels for which a group has to be executed.
    indices : ``Out``
        The indices of the first one of them.
    alike : ``Out(size)``
        Those of them that have the same indices.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        super().__init__(
            {
                "kept": In(address_layout(size)),
                "is_set": In(1),
                "pixels": In(size),
                "indices": Out(INDICES["address"].shape),
                "alike": Out(size),
            }
        )

    latency = 0

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        first = Signal(self._size)
        m.d.comb += first.eq(lowest_one(self.pixels))
        equal: list[Value] = []
        for channel in range(CHANNELS):
            words = [Value.cast(self.kept[channel][pixel]) for pixel in range(self._size)]
            own = Value.cast(self.indices[channel])
            chosen = reduce(or_, (Mux(first[pixel], word, 0) for pixel, word in enumerate(words)))
            m.d.comb += own.eq(Mux(self.is_set, chosen, 0))
            equal.append(Cat((own == word) | ~self.is_set for word in words))
        m.d.comb += self.alike.eq(self.pixels & reduce(and_, equal))
        return m


class AddressMoves(wiring.Component):
    """The address registers after a group: MOVA's results in the pixels of their channel's gate. Combinational.

    Members
    -------
    kept, is_set
        As those of `AddressRegisters`.
    sets : ``In(4)``
        Channels whose slot has a MOVA.
    gates : ``In(ArrayLayout(size, 5))``
        Pixels in which each slot's instruction writes.
    indices : ``In(address_layout(size))``
        The results of MOVA, undefined in other channels.
    after : ``Out(address_layout(size))``
    """

    def __init__(self, size: int) -> None:
        super().__init__(
            {
                "kept": In(address_layout(size)),
                "is_set": In(1),
                "sets": In(CHANNELS),
                "gates": In(data.ArrayLayout(size, GROUP_SLOTS)),
                "indices": In(address_layout(size)),
                "after": Out(address_layout(size)),
            }
        )

    latency = 0

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        for channel in range(CHANNELS):
            for pixel, target in enumerate(self.after[channel]):
                old = Mux(self.is_set, Value.cast(self.kept[channel][pixel]), 0)
                new = Value.cast(self.indices[channel][pixel])
                moves = self.sets[channel] & self.gates[channel][pixel]
                m.d.comb += Value.cast(target).eq(Mux(moves, new, old))
        return m

"""Writes and other effects of a group's instructions, and whether they are legal.

Source: R700-Family Instruction Set Architecture, sections 4.1 to 4.9; docs/design/r700-core.md.
"""

from collections.abc import Sequence

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.isa.limits import CHANNELS, REGISTER_BITS, WORD_BITS
from ctm.rtl.isa.r700.alu import ALU_DWORD0, ALU_DWORD1_OP2, ALU_DWORD1_OP3, IndexMode, PredicateSelect
from ctm.rtl.isa.r700.limits import GROUP_SLOTS, VECTOR_SLOTS
from ctm.rtl.r700.border.lane import SlotControl
from ctm.rtl.r700.code.groups import GROUP
from ctm.rtl.r700.code.slot_control import SlotDecoder
from ctm.rtl.r700.code.words import connect_word, has_three

_RESERVED_PREDICATE_SELECT = 1

EFFECT = data.StructLayout(
    {
        "writes": 1,
        "number": REGISTER_BITS,
        "channel": range(CHANNELS),
        "relative": 1,
        "mode": IndexMode,
        "predicate": PredicateSelect,
        "sets_predicate": 1,
        "kills": 1,
        "sets_address": 1,
        "updates_execute_mask": 1,
        "updates_predicate": 1,
    }
)
"""The effect of an instruction, in pixels of `predicate`: a channel of a register, the predicate, masks, AR."""


class GroupInstructions(wiring.Component):
    """Decodes the instructions of a group. Combinational.

    Members
    -------
    group : ``In(GROUP)``
    controls : ``Out(ArrayLayout(SlotControl, 5))``
        Undefined for an unused slot.
    effects : ``Out(ArrayLayout(EFFECT, 5))``
        None for an unused slot.
    relative : ``Out(1)``
        A result goes to a register relative to AR.
    illegal : ``Out(1)``
    """

    group: In(GROUP)
    controls: Out(data.ArrayLayout(SlotControl, GROUP_SLOTS))
    effects: Out(data.ArrayLayout(EFFECT, GROUP_SLOTS))
    relative: Out(1)
    illegal: Out(1)

    latency = 0

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        decoders = [SlotDecoder() for _ in range(GROUP_SLOTS)]
        problems: list[Value] = []
        for slot, decoder in enumerate(decoders):
            m.submodules[f"slot_{slot}"] = decoder
            unit = Signal(2 * WORD_BITS, name=f"unit_{slot}")
            connect_word(m, decoder, unit)
            m.d.comb += [
                unit.eq(self.group.words[slot]),
                self.controls[slot].eq(decoder.control),
            ]
            problems += self._effect(m, slot, unit, decoder.facts)
        problems += self._check_reductions([decoder.facts for decoder in decoders])
        problems += self._check_effects()
        to_ar = [effect.relative & (Value.cast(effect.mode) != IndexMode.LOOP.value) for effect in self.effects]
        m.d.comb += [self.illegal.eq(Cat(problems).any()), self.relative.eq(Cat(to_ar).any())]
        return m

    def _effect(self, m: Module, slot: int, unit: Value, facts: data.View) -> list[Value]:
        """The effect of an instruction, and whether that is illegal."""
        used, effect = self.group.used[slot], self.effects[slot]
        low, high = data.View(ALU_DWORD0, unit[:WORD_BITS]), unit[WORD_BITS:]
        two, three = data.View(ALU_DWORD1_OP2, high), data.View(ALU_DWORD1_OP3, high)
        is_three = has_three(high)
        writes = two.write_mask | is_three
        modified = three.clamp | (~is_three & Value.cast(two.omod).any())
        updates = ~is_three & (two.update_execute_mask | two.update_pred)
        mode = Value.cast(low.index_mode)
        relative = three.dst_rel & writes
        m.d.comb += [
            effect.writes.eq(used & writes),
            effect.number.eq(three.dst_gpr),
            effect.channel.eq(three.dst_chan),
            effect.relative.eq(used & relative),
            Value.cast(effect.mode).eq(mode),
            Value.cast(effect.predicate).eq(Value.cast(low.pred_sel)),
            effect.sets_predicate.eq(used & facts.sets_predicate),
            effect.kills.eq(used & facts.kills),
            effect.sets_address.eq(used & facts.sets_address),
            effect.updates_execute_mask.eq(used & ~is_three & two.update_execute_mask),
            effect.updates_predicate.eq(used & ~is_three & two.update_pred),
        ]
        wrong = (
            (modified & ~facts.takes_modifiers)
            | (updates & ~facts.sets_predicate)
            | (Value.cast(low.pred_sel) == _RESERVED_PREDICATE_SELECT)
            | (relative & (mode > IndexMode.LOOP.value))
        )
        return [used & wrong]

    def _check_reductions(self, facts: Sequence[data.View]) -> list[Value]:
        """A reduction has to be in all four vector slots, the same one."""
        used, words = self.group.used, self.group.words
        reduces = Cat(used[slot] & facts[slot].is_reduction for slot in range(VECTOR_SLOTS)).any()
        codes = [data.View(ALU_DWORD1_OP2, words[slot][WORD_BITS:]).alu_inst for slot in range(VECTOR_SLOTS)]
        unlike = [Value.cast(code) != Value.cast(codes[0]) for code in codes]
        others = [used[slot] & ~facts[slot].is_reduction for slot in range(VECTOR_SLOTS)]
        return [reduces & (~used[:VECTOR_SLOTS].all() | Cat(*unlike, *others).any())]

    def _check_effects(self) -> list[Value]:
        """One PRED_SET at most, none beside a KILL; no relative number beside a MOVA."""
        sets = [effect.sets_predicate for effect in self.effects]
        kills = Cat(effect.kills for effect in self.effects).any()
        moves = Cat(effect.sets_address for effect in self.effects).any()
        several = sum(sets) > 1
        destinations = [effect.relative for effect in self.effects]
        sources = []
        for slot in range(GROUP_SLOTS):
            low = data.View(ALU_DWORD0, self.group.words[slot][:WORD_BITS])
            three = data.View(ALU_DWORD1_OP3, self.group.words[slot][WORD_BITS:])
            relative = (low.src0_rel, low.src1_rel, three.src2_rel)
            sources += [
                self.group.used[slot] & bit & (self.group.operands[slot] > number)
                for number, bit in enumerate(relative)
            ]
        return [several, Cat(sets).any() & kills, moves & Cat(*destinations, *sources).any()]

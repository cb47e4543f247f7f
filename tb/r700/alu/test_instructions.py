"""GroupInstructions: instructions of a group do what their words say, or the group is illegal."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from amaranth.sim import Simulator

from ctm.rtl.isa.r700 import alu
from ctm.rtl.isa.r700.alu import Op2, Op3
from ctm.rtl.isa.r700.operations import OPERATIONS, Operation, Result, Slots
from ctm.rtl.isa.word import replace
from ctm.rtl.r700.alu.instructions import GroupInstructions
from ctm.rtl.r700.code.controls import control
from ctm.tb.lib.some import fewer

GROUPS = fewer(700)
SLOTS, VECTOR, TRANS = 5, 4, 4
LOOP = 4
"""INDEX_MODE of aL; lower ones are the channels of AR."""
OFF, ONE, ZERO, RESERVED = 0, 3, 2, 1
"""PRED_SEL."""
SCALES = {"M2": 1, "M4": 2, "D2": -1}
MODIFIERS = (0, 1, 2, -1)
"""Of a name's suffix, and of OMOD."""
BY_SLOTS = {kind: [each for each in OPERATIONS.values() if each.slots is kind] for kind in Slots}
PLAIN = [each for each in BY_SLOTS[Slots.ANY] if not each.sets_predicate and not each.kills]
CHANGING = [each for each in OPERATIONS.values() if each.sets_predicate or each.kills or each.sets_address]


@dataclass(frozen=True, kw_only=True)
class Instruction:
    """An operation in a slot, with fields of its words by their names."""

    position: int
    operation: Operation
    fields: dict[str, int]

    def __getitem__(self, name: str) -> int:
        """A field, 0 if words of this form have none."""
        return self.fields.get(name, 0)

    @property
    def writes(self) -> bool:
        """Whether a register is written: always by what has three operands."""
        return isinstance(self.operation.code, Op3) or bool(self["write_mask"])

    @property
    def relative(self) -> bool:
        """Whether that is relative."""
        return self.writes and bool(self["dst_rel"])

    @property
    def reads_relative(self) -> bool:
        """Whether an operand that the operation has is relative."""
        return any(self[f"src{number}_rel"] for number in range(self.operation.operands))

    @property
    def is_legal(self) -> bool:
        """Whether it may be, by itself."""
        operation = self.operation
        modified = self["omod"] or self["clamp"]
        updates = self["update_execute_mask"] or self["update_pred"]
        return not (
            (modified and operation.result is not Result.FLOAT)
            or (updates and not operation.sets_predicate)
            or self["pred_sel"] == RESERVED
            or (self.relative and self["index_mode"] > LOOP)
        )

    def words(self, draw: np.random.Generator) -> int:
        """Its words; other fields are anything."""
        low, high = (int(word) for word in draw.integers(0, 1 << 32, 2))
        second = alu.ALU_DWORD1_OP3 if isinstance(self.operation.code, Op3) else alu.ALU_DWORD1_OP2
        first = {name: value for name, value in self.fields.items() if name in dict(alu.ALU_DWORD0)}
        second_fields = {name: value for name, value in self.fields.items() if name not in first}
        return replace(alu.ALU_DWORD0, low, **first) | replace(second, high, **second_fields) << 32


Group = list[Instruction]


def is_legal(group: Group) -> bool:
    """Whether all of them may be, and together."""
    vector = [each.operation for each in group if each.position < VECTOR]
    if any(each.is_reduction for each in vector) and (len(vector) < VECTOR or len(set(vector)) > 1):
        return False
    setters = sum(each.operation.sets_predicate for each in group)
    kills = any(each.operation.kills for each in group)
    moves = any(each.operation.sets_address for each in group)
    relative = any(each.relative or each.reads_relative for each in group)
    return all(each.is_legal for each in group) and setters + (setters and kills) <= 1 and not (moves and relative)


class Draw:
    """Groups that are legal more often than not."""

    def __init__(self, draw: np.random.Generator) -> None:
        self._draw = draw
        self._relative = float(draw.choice([0, 0, 0.1]))
        self._wrong = float(draw.choice([0, 0, 0.1]))

    def _chance(self, probability: float) -> bool:
        return bool(self._draw.random() < probability)

    def _one(self, operations: list[Operation]) -> Operation:
        return operations[int(self._draw.integers(len(operations)))]

    def group(self) -> Group:
        """Operations in slots in which they may be."""
        positions = {position: self._one(PLAIN) for position in range(SLOTS) if self._chance(0.6)}
        if self._chance(0.25):
            reduction = self._one(BY_SLOTS[Slots.REDUCTION])
            positions |= dict.fromkeys(range(VECTOR), reduction)
            if self._chance(0.2):
                other = self._one([*BY_SLOTS[Slots.REDUCTION], *PLAIN[:4]])
                positions[int(self._draw.integers(VECTOR))] = other
            if self._chance(0.2):
                del positions[int(self._draw.integers(VECTOR))]
        elif self._chance(0.7):
            for _ in range(int(self._draw.choice([1, 1, 1, 2]))):
                changing = self._one(CHANGING)
                position = int(self._draw.integers(VECTOR if changing.slots is Slots.VECTOR else SLOTS))
                positions[position] = changing
        if self._chance(0.2):
            positions[TRANS] = self._one(BY_SLOTS[Slots.TRANS])
        return [self._instruction(position, positions[position]) for position in sorted(positions)]

    def _instruction(self, position: int, operation: Operation) -> Instruction:
        draw, has_three = self._draw, isinstance(operation.code, Op3)
        is_float, sets = operation.result is Result.FLOAT, operation.sets_predicate
        fields = {
            "alu_inst": operation.code.value, "dst_chan": int(draw.integers(4)) if position == TRANS else position,
            "dst_gpr": int(draw.integers(128)), "dst_rel": int(self._chance(self._relative)),
            "index_mode": int(draw.integers(8 if self._chance(self._wrong) else LOOP + 1)),
            "pred_sel": RESERVED if self._chance(self._wrong / 4) else int(draw.choice([OFF, ZERO, ONE])),
            "clamp": int(self._chance(0.5 if is_float else self._wrong)),
        }  # fmt: skip
        for number in range(3 if has_three else 2):
            # Of operands that the operation does not have anything may be said.
            own = number < operation.operands
            fields[f"src{number}_rel"] = int(self._chance(self._relative if own else 0.5))
            fields[f"src{number}_neg"] = int(draw.integers(2))
        if not has_three:
            fields |= {name: int(draw.integers(2)) for name in ("src0_abs", "src1_abs", "write_mask")}
            fields["omod"] = int(draw.integers(4)) if is_float or self._chance(self._wrong) else 0
            fields |= {
                name: int(self._chance(0.5 if sets else self._wrong / 2))
                for name in ("update_execute_mask", "update_pred")
            }
        return Instruction(position=position, operation=operation, fields=fields)


def same_control(found: Any, each: Instruction) -> None:
    """What a slot does."""
    operation, has_three = each.operation, isinstance(each.operation.code, Op3)
    negate = sum(each[f"src{number}_neg"] << number for number in range(3))
    if operation.code is Op2.PRED_SET_POP:
        # Its second operand is subtracted.
        negate ^= 2
    scale = SCALES.get(operation.name.rpartition("_")[2], 0) if has_three else MODIFIERS[each["omod"]]
    expected = {
        **control(operation), "negate": negate, "absolute": each["src0_abs"] | each["src1_abs"] << 1,
        "scale": scale, "clamp": each["clamp"],
    }  # fmt: skip
    for name, value in expected.items():
        if not isinstance(value, dict):
            assert found[name] == value, f"{name} of {operation.name}"


def same_effect(found: Any, each: Instruction) -> None:
    """What an instruction changes."""
    operation = each.operation
    flags = {
        "writes": each.writes, "relative": each.relative, "sets_predicate": operation.sets_predicate,
        "kills": operation.kills, "sets_address": operation.sets_address,
        "updates_execute_mask": each["update_execute_mask"], "updates_predicate": each["update_pred"],
    }  # fmt: skip
    assert {name: bool(found[name]) for name in flags} == {name: bool(value) for name, value in flags.items()}
    assert found.predicate.value == each["pred_sel"]
    if each.writes:
        assert (found.number, found.channel) == (each["dst_gpr"], each["dst_chan"])
    if each.relative:
        assert found.mode.value == each["index_mode"]


EFFECTS = ("writes", "relative", "sets_predicate", "kills", "sets_address", "updates_execute_mask", "updates_predicate")


def check(seed: int, groups: int) -> None:
    """So many groups."""
    unit: Any = GroupInstructions()
    draw, seen = np.random.default_rng(seed), Counter[str]()

    async def run(context: Any) -> None:
        for _ in range(groups):
            group = Draw(draw).group()
            # Of slots that are not used anything may be said, something like what the others are too.
            words = [int(word) for word in draw.integers(0, 1 << 63, SLOTS)]
            operands = [word % 4 for word in words]
            if group and draw.random() < 0.5:
                words = [group[0].words(draw)] * SLOTS
            for each in group:
                words[each.position], operands[each.position] = each.words(draw), each.operation.operands
            used = sum(1 << each.position for each in group)
            context.set(unit.group, {"used": used, "words": words, "operands": operands})
            legal = is_legal(group)
            assert bool(context.get(unit.illegal)) == (not legal), group
            seen["legal" if legal else "illegal"] += 1
            if not legal:
                continue
            to_ar = any(each.relative and each["index_mode"] < LOOP for each in group)
            assert bool(context.get(unit.relative)) == to_ar, group
            seen["to AR"] += to_ar
            effects, controls = context.get(unit.effects), context.get(unit.controls)
            for each in group:
                same_effect(effects[each.position], each)
                same_control(controls[each.position], each)
            unused = set(range(SLOTS)) - {each.position for each in group}
            assert not any(effects[position][name] for position in unused for name in EFFECTS), (
                "an unused slot does something"
            )

    simulator = Simulator(unit)
    simulator.add_testbench(run)
    simulator.run()
    assert len(seen) == 3 and min(seen.values()) > groups // 40, seen


def compare() -> None:
    """What the ordinary suite compares."""
    check(1, GROUPS)


def test_instructions_do_what_they_say() -> None:
    compare()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 12))
def test_many_more_groups(seed: int) -> None:
    check(seed, 3_000)

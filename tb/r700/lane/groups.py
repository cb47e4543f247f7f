"""Groups of instructions with many operands each: what the golden model says of them, and what a lane does."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.r700.alu import Op2, Op3
from ctm.rtl.isa.r700.limits import GROUP_SLOTS, VECTOR_SLOTS
from ctm.rtl.isa.r700.operations import OPERATIONS, Operation
from ctm.rtl.r700.border.lane import INDEX, SLOT_OPERANDS
from ctm.sim.golden.r700.formulas import INDICES, PREDICATES, REDUCTIONS, VALUES, modify
from ctm.tb.lib.packing import pack
from ctm.tb.lib.words import Words, bits, floats, show
from ctm.tb.r700.lane.decoded_lane import INSTRUCTION

_INDEX_MASK = (1 << INDEX.width) - 1
_INSTRUCTION_BITS = INSTRUCTION.size
Unit = Callable[..., dict[str, npt.NDArray[np.generic]]]
"""A compiled DecodedLane."""


@dataclass(frozen=True, kw_only=True)
class Instruction:
    """One slot's; modifiers of operands are bits, operand 0 lowest."""

    operation: Operation = OPERATIONS[Op2.NOP]
    absolute: int = 0
    negate: int = 0
    omod: int = 0
    clamp: bool = False

    @property
    def word(self) -> int:
        """The decoder's inputs."""
        code = self.operation.code
        fields = {
            "code": code.value,
            "three_operands": isinstance(code, Op3),
            "absolute": self.absolute,
            "negate": self.negate,
            "omod": self.omod,
            "clamp": self.clamp,
        }
        return int(pack(INSTRUCTION, fields))

    def modified(self, operands: Words) -> list[Words]:
        """The operands [n, 3] that the operation reads, with their modifiers."""
        result = []
        for position in range(self.operation.operands):
            word = np.ascontiguousarray(operands[:, position])
            if position < 2 and self.absolute >> position & 1:
                word = word & np.uint32(0x7FFFFFFF)
            result.append(word ^ np.uint32((self.negate >> position & 1) << 31))
        return result

    def __str__(self) -> str:
        return f"{self.operation.name} abs {self.absolute} neg {self.negate} omod {self.omod} clamp {self.clamp}"


NOP = Instruction()


@dataclass(frozen=True, kw_only=True)
class Batch:
    """A group, and its operands [n, 5, 3] for many pixels."""

    slots: tuple[Instruction, ...]
    operands: Words
    dx10_clamp: bool = True

    @property
    def size(self) -> int:
        """Number of pixels."""
        return len(self.operands)

    def slice(self, first: int, last: int) -> "Batch":
        """Some of the pixels."""
        return replace(self, operands=self.operands[first:last])


@dataclass(frozen=True)
class Results:
    """Of a batch: words [n, 5]; for each vector slot with a MOVA its indices; predicate [n], kill [n]."""

    words: Words
    indices: Mapping[int, Words]
    predicate: Words
    kill: Words


def golden(batch: Batch) -> Results:
    """What the golden model's formulas give."""
    count = batch.size
    words = np.zeros((count, GROUP_SLOTS), np.uint32)
    predicate, kill = np.zeros(count, np.uint32), np.zeros(count, np.uint32)
    indices = {}
    reduced = _reduced(batch)
    for position, slot in enumerate(batch.slots):
        operation = slot.operation
        operands = [floats(word) for word in slot.modified(batch.operands[:, position])]
        if operation.is_reduction:
            value = reduced[position]
        elif operation.sets_predicate or operation.kills:
            value, condition = PREDICATES[operation.name](*operands, clean=False)
            held = np.broadcast_to(condition, count).astype(np.uint32)
            predicate |= held * operation.sets_predicate
            kill |= held * operation.kills << position
        else:
            value = VALUES[operation.name](*operands, clean=False)
        if operation.sets_address:
            indices[position] = (INDICES[operation.name](operands[0]) & _INDEX_MASK).astype(np.uint32)
        modified = modify(np.array(value), slot.omod, slot.clamp, dx10_clamp=batch.dx10_clamp)
        words[:, position] = np.broadcast_to(bits(np.ascontiguousarray(modified)), count)
    return Results(words, indices, predicate, kill)


def _reduced(batch: Batch) -> Sequence[npt.NDArray[np.float32]]:
    first = batch.slots[0].operation
    if not first.is_reduction:
        return ()
    sides = [
        [
            floats(slot.modified(batch.operands[:, position])[side])
            for position, slot in enumerate(batch.slots[:VECTOR_SLOTS])
        ]
        for side in range(first.operands)
    ]
    return REDUCTIONS[first.name](*sides, clean=False)


def _packed(slots: Sequence[Instruction]) -> Words:
    total = sum(slot.word << _INSTRUCTION_BITS * position for position, slot in enumerate(slots))
    words = -(-_INSTRUCTION_BITS * GROUP_SLOTS // 32)
    return np.array([total >> 32 * word & 0xFFFFFFFF for word in range(words)], np.uint32)


def run(unit: Unit, batches: Sequence[Batch]) -> list[Results]:
    """What a lane gives for batches that follow one another without a gap."""
    sizes = [batch.size for batch in batches]
    outputs = unit(
        instructions=np.repeat([_packed(batch.slots) for batch in batches], sizes, axis=0),
        dx10_clamp=np.repeat([batch.dx10_clamp for batch in batches], sizes),
        operands=np.concatenate([batch.operands.reshape(-1, GROUP_SLOTS * SLOT_OPERANDS) for batch in batches]),
    )
    packed = np.asarray(outputs["indices"], np.uint64)
    results = []
    end = 0
    for batch in batches:
        rows = slice(end, end := end + batch.size)
        indices = {
            position: (packed[rows] >> np.uint64(INDEX.width * position) & np.uint64(_INDEX_MASK)).astype(np.uint32)
            for position, slot in enumerate(batch.slots)
            if slot.operation.sets_address
        }
        results.append(
            Results(
                np.asarray(outputs["words"][rows], np.uint32),
                indices,
                np.asarray(outputs["predicate"][rows], np.uint32),
                np.asarray(outputs["kill"][rows], np.uint32),
            )
        )
    return results


def check(unit: Unit, batches: Sequence[Batch]) -> None:
    """Fail at the first pixel where a lane and the golden model differ, showing the instruction and its operands."""
    for batch, found in zip(batches, run(unit, batches), strict=True):
        wanted = golden(batch)
        for position in range(GROUP_SLOTS):
            pairs = {"result": (found.words[:, position], wanted.words[:, position])}
            if position in wanted.indices:
                pairs["index"] = (found.indices[position], wanted.indices[position])
            for name, (actual, expected) in pairs.items():
                _check(batch, position, name, actual, expected)
        for position in range(GROUP_SLOTS):
            killed, expected = (each.kill >> np.uint32(position) & np.uint32(1) for each in (found, wanted))
            _check(batch, position, "kill", killed, expected)
        predicating = [position for position, slot in enumerate(batch.slots) if slot.operation.sets_predicate]
        _check(batch, predicating[0] if predicating else 0, "predicate", found.predicate, wanted.predicate)


def _check(batch: Batch, position: int, name: str, actual: Words, expected: Words) -> None:
    wrong = np.flatnonzero(actual != expected)
    if wrong.size:
        row = int(wrong[0])
        slot = batch.slots[position]
        shown = "; ".join(
            ", ".join(show(int(word)) for word in batch.operands[row, each, : batch.slots[each].operation.operands])
            for each in (range(VECTOR_SLOTS) if slot.operation.is_reduction else [position])
        )
        raise AssertionError(
            f"{wrong.size} of {batch.size} differ in slot {'xyzwt'[position]}: {slot} of {shown} gives {name} "
            f"{show(int(actual[row]))}, expected {show(int(expected[row]))}"
        )

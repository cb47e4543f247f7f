"""What one pixel makes of ALU clauses: slot after slot in plain integers, all operands of a group before its writes."""

from collections.abc import Mapping, Sequence

from ctm.rtl.isa.r700.alu import INLINE_CONSTANTS
from ctm.rtl.isa.r700.operations import OPERATIONS
from ctm.tb.golden.r700.scalar import INDICES, PREDICATES, REDUCTIONS, VALUES, modify
from ctm.tb.r700.random_groups import Clause
from ctm.tb.r700.words import Slot, Source, positions

_SIGN = 1 << 31
_ROWS = 256


class Pixel:
    """A pixel: `registers` of NUM_GPRS, `temporaries` of the clause, and the valid bit."""

    def __init__(self, registers: Sequence[Sequence[int]], rows: Mapping[int, Sequence[int]], *, dx10: bool) -> None:
        self.registers = [list(words) for words in registers]
        self.temporaries = [[0] * 4 for _ in range(4)]
        self.valid = True
        self.loop_index = 0
        self._rows = rows
        self._dx10 = dx10
        self._address = [0] * 4
        self._previous: dict[int, int] = {}
        self._kcache: Sequence[tuple[int, int]] = ()

    def run(self, clause: Clause) -> None:
        """Run a clause; a pixel that leaves the execute mask is in it again after the clause."""
        self._address, self._previous, self._kcache = [0] * 4, {}, clause.kcache
        predicate, active = False, True
        for slots in clause.groups:
            if not active:
                return
            predicate, active = self._group(slots, predicate)

    def _group(self, slots: Sequence[Slot], predicate: bool) -> tuple[bool, bool]:
        """Run a group; the predicate and whether the pixel is active after it."""
        operands = [[self._operand(each, slot.index) for each in slot.sources] for slot in slots]
        results: dict[int, int] = {}
        writes, next_predicate, active = [], predicate, True
        for position, slot, values in zip(positions(slots), slots, operands, strict=True):
            result, condition = _computed(slot, position, values, operands)
            results[position] = modify(result, slot.omod, slot.clamp, self._dx10)
            if not {0: True, 2: not predicate, 3: predicate}[slot.predicate]:
                continue
            writes.append((slot, results[position], values))
            self.valid = self.valid and not (OPERATIONS[slot.operation].kills and condition)
            next_predicate = condition if slot.updates_predicate else next_predicate
            active = active and not (slot.updates_mask and not condition)
        for slot, word, values in writes:
            if slot.writes:
                self._write(slot, word)
            # No word of its group is relative.
            if OPERATIONS[slot.operation].sets_address:
                self._address[slot.channel] = INDICES[OPERATIONS[slot.operation].name](values[0])
        self._previous = results
        return next_predicate, active

    def _index(self, mode: int) -> int:
        return self.loop_index if mode == 4 else self._address[mode]

    def _operand(self, operand: Source, mode: int) -> int:
        word = self._word(operand, self._index(mode) if operand.relative else 0)
        if operand.absolute:
            word &= ~_SIGN
        return word ^ _SIGN if operand.negated else word

    def _word(self, operand: Source, index: int) -> int:
        if operand.literal is not None:
            return operand.literal
        select = operand.select
        if select < 128:
            return self._register(select, operand.relative, index)[operand.channel]
        if select < 192:
            which, row = divmod(select - 128, 32)
            return self._rows.get(16 * self._kcache[which][1] + row + index, (0, 0, 0, 0))[operand.channel]
        if select in INLINE_CONSTANTS:
            return INLINE_CONSTANTS[select][1]
        return self._previous[4 if select == 255 else operand.channel]

    def _register(self, number: int, relative: bool, index: int) -> list[int]:
        if not relative and number >= 124:
            return self.temporaries[number - 124]
        if 0 <= number + index < len(self.registers):
            return self.registers[number + index]
        return [0] * 4

    def _write(self, slot: Slot, word: int) -> None:
        index = self._index(slot.index) if slot.relative else 0
        self._register(slot.register, slot.relative, index)[slot.channel] = word


def _computed(slot: Slot, position: int, values: Sequence[int], operands: Sequence[Sequence[int]]) -> tuple[int, bool]:
    """A slot's result, and the condition of a PRED_SET or KILL."""
    operation = OPERATIONS[slot.operation]
    if operation.is_reduction:
        sides = [[operands[each][side] for each in range(4)] for side in range(operation.operands)]
        return REDUCTIONS[operation.name](*sides)[position], False
    if operation.sets_predicate or operation.kills:
        return PREDICATES[operation.name](*values)
    return VALUES[operation.name](*values), False

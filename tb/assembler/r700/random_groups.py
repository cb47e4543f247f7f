"""Random groups of ALU instructions, as words by the declarations alone: most of them are legal or nearly so."""

import random
from collections.abc import Sequence

from ctm.rtl.isa.r700 import alu
from ctm.rtl.isa.r700.alu import Op3, PredicateSelect
from ctm.rtl.isa.r700.limits import LITERALS_PER_UNIT, TRANS_SLOT, VECTOR_SLOTS
from ctm.rtl.isa.r700.operations import OPERATIONS, Operation, Result, Slots
from ctm.rtl.isa.word import pack

Unit = tuple[int, int]
_BY_SLOTS = {kind: [each for each in OPERATIONS.values() if each.slots is kind] for kind in Slots}
_PLAIN = [each for each in _BY_SLOTS[Slots.ANY] if not (each.sets_predicate or each.kills)]


class RandomGroups:
    """Draws groups; of 100 fields about `faults` are drawn without a look at what is legal."""

    def __init__(self, seed: int, faults: float = 0) -> None:
        self._random = random.Random(seed)
        self._faults = faults

    def clause(self, groups: int) -> list[Unit]:
        """Groups one after the other, the operands of each among what the one before has produced."""
        units: list[Unit] = []
        produced: list[int] = []
        for _ in range(groups):
            found, produced = self.group(produced)
            units += found
        return units

    def group(self, produced: Sequence[int]) -> tuple[list[Unit], list[int]]:
        """The units of a group, and its slots; `produced` are the slots of the group before."""
        slots = sorted(self._random.sample(range(TRANS_SLOT + 1), self._random.randint(1, TRANS_SLOT + 1)))
        reduction = self._random.choice(_BY_SLOTS[Slots.REDUCTION]) if self._chance(0.1) else None
        if reduction is not None:
            slots = [*range(VECTOR_SLOTS), *([TRANS_SLOT] if TRANS_SLOT in slots else [])]
        registers = self._random.sample(range(128), 3)
        rows = [(self._random.randrange(alu.KCACHE_0, alu.KCACHE_END), self._random.randrange(2)) for _ in range(2)]
        words = []
        literals = 0
        for slot in slots:
            operation = self._operation(slot, slots, reduction)
            channel = slot if slot < VECTOR_SLOTS else self._trans_channel(operation, slots)
            sources = [self._source(produced, registers, rows) for _ in range(operation.operands)]
            named = [source["chan"] + 1 for source in sources if source["sel"] == alu.LITERAL]
            literals = max([literals, *named])
            words.append(self._words(operation, slot, channel, sources, last=slot == slots[-1]))
        literals += literals % LITERALS_PER_UNIT
        values = [
            self._random.choice((0, 0x3F800000, 0x40490FDB, self._random.getrandbits(32))) for _ in range(literals)
        ]
        return words + list(zip(values[::2], values[1::2], strict=True)), slots

    def _chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def _fault(self) -> bool:
        return self._chance(self._faults / 100)

    def _operation(self, slot: int, slots: Sequence[int], reduction: Operation | None) -> Operation:
        if self._fault():
            return self._random.choice(list(OPERATIONS.values()))
        if slot < VECTOR_SLOTS:
            kinds = _PLAIN if self._chance(0.9) else [*_BY_SLOTS[Slots.VECTOR], *_BY_SLOTS[Slots.ANY]]
            return reduction or self._random.choice(kinds)
        can_be_any = any(other < VECTOR_SLOTS for other in slots)
        return self._random.choice(_PLAIN if can_be_any and self._chance(0.4) else _BY_SLOTS[Slots.TRANS])

    def _trans_channel(self, operation: Operation, slots: Sequence[int]) -> int:
        taken = [slot for slot in slots if slot < VECTOR_SLOTS]
        return self._random.choice(taken if operation.slots is Slots.ANY and taken else range(VECTOR_SLOTS))

    def _source(
        self, produced: Sequence[int], registers: Sequence[int], rows: Sequence[tuple[int, int]]
    ) -> dict[str, int]:
        channel = self._random.randrange(VECTOR_SLOTS)
        found = {"chan": channel, "rel": 0, "neg": int(self._chance(0.2))}
        kind = self._random.random()
        if self._fault():
            return {**found, "sel": self._random.randrange(1 << 9), "rel": int(self._chance(0.2))}
        if kind < 0.15 and produced:
            slot = self._random.choice(produced)
            previous = alu.PREVIOUS_SCALAR if slot == TRANS_SLOT else alu.PREVIOUS_VECTOR
            return {**found, "sel": previous, "chan": slot % VECTOR_SLOTS}
        if kind < 0.3:
            row, half = self._random.choice(rows)
            return {**found, "sel": row, "chan": 2 * half + channel % 2, "rel": int(self._chance(0.05))}
        if kind < 0.45:
            return {**found, "sel": self._random.choice([*alu.INLINE_CONSTANTS, alu.LITERAL])}
        return {**found, "sel": self._random.choice(registers), "rel": int(self._chance(0.05))}

    def _words(
        self, operation: Operation, slot: int, channel: int, sources: Sequence[dict[str, int]], *, last: bool
    ) -> Unit:
        has_three = isinstance(operation.code, Op3)
        low = {
            f"src{number}_{name}": value for number, source in enumerate(sources[:2]) for name, value in source.items()
        }
        low |= {"last": last, "index_mode": self._random.randrange(5), "pred_sel": self._predicate()}
        swizzles = len(alu.TransSwizzle) if slot == TRANS_SLOT else len(alu.VectorSwizzle)
        is_float = operation.result is Result.FLOAT or self._fault()
        high = {
            "alu_inst": operation.code.value,
            "bank_swizzle": self._random.randrange(8 if self._fault() else swizzles),
            "dst_gpr": self._random.randrange(128),
            "dst_rel": int(self._chance(0.05)),
            "dst_chan": channel,
            "clamp": int(is_float and self._chance(0.2)),
        }
        if has_three:
            high |= {f"src2_{name}": value for name, value in sources[2].items()}
            return pack(alu.ALU_DWORD0, **low), pack(alu.ALU_DWORD1_OP3, **high)
        updates = operation.sets_predicate or self._fault()
        high |= {
            "write_mask": int(self._chance(0.8)),
            "omod": self._random.randrange(4) if is_float else 0,
            "src0_abs": int(self._chance(0.1)),
            "src1_abs": int(self._chance(0.1)) if operation.operands > 1 else 0,
            "update_execute_mask": int(updates and self._chance(0.5)),
            "update_pred": int(updates and self._chance(0.5)),
        }
        return pack(alu.ALU_DWORD0, **low), pack(alu.ALU_DWORD1_OP2, **high)

    def _predicate(self) -> int:
        if self._fault():
            return self._random.randrange(4)
        return self._random.choice(list(PredicateSelect)).value if self._chance(0.2) else 0

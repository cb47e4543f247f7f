"""Groups as they are issued to the lanes, of operations that are easy to be sure of, and what they make of registers.

Everything is plain numbers; the caller gives the words of registers and constants.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

SLOTS, TRANS, CHANNELS, CYCLES, OPERANDS, PAIRS = 5, 4, 4, 3, 3, 2
LOOP, TEMPORARIES = 4, 124
REGISTER, VECTOR, SCALAR, UNIFORM = range(4)
"""Where an operand is from."""
CONSTANT, VALUE = range(2)
LITERAL = 253
INLINE = {244: 0, 245: 0x3FF00000, 246: 0, 247: 0x3FE00000, 248: 0, 249: 0x3F800000, 250: 1, 251: 0xFFFFFFFF,
          252: 0x3F000000}  # fmt: skip
MASK, ONE = 0xFFFFFFFF, 0x3F800000

Words = Callable[[int, int], list[int]]
"""Words of the pixels of a slice, by row and channel: 0 where nothing was written."""
Constant = Callable[[int], list[int]]
"""A row of constants."""


def signed(word: int) -> int:
    """A word as an integer."""
    return word - (1 << 32) * (word >> 31)


OPERATIONS: dict[str, Callable[[int, int, int], int]] = {
    "MOV": lambda a, b, c: a,
    "ADD_INT": lambda a, b, c: a + b & MASK,
    "SUB_INT": lambda a, b, c: a - b & MASK,
    "XOR_INT": lambda a, b, c: a ^ b,
    "CNDE_INT": lambda a, b, c: b if a == 0 else c,
    "PRED_SETE_INT": lambda a, b, c: 0 if a == b else ONE,
    "KILLE_INT": lambda a, b, c: ONE if a == b else 0,
    "MOVA_INT": lambda a, b, c: a,
}
PLAIN = tuple(name for name in OPERATIONS if name[:4] not in ("PRED", "KILL", "MOVA"))


@dataclass(kw_only=True)
class Register:
    """A register that is read or written, perhaps relative to what `mode` names."""

    number: int
    relative: bool
    mode: int

    def offset(self, indices: list[int], gprs: int) -> int | None:
        """Its offset from a slice's first register, if there is such a register; `indices` are AR and aL."""
        if not self.relative and self.number >= TEMPORARIES:
            return gprs + self.number - TEMPORARIES
        at = self.number + (indices[self.mode] if self.relative else 0)
        return at if 0 <= at < gprs else None


@dataclass(kw_only=True)
class Operand:
    """What an operand is; of a constant `channel` is that of its row."""

    source: int
    channel: int = 0
    cycle: int = 0
    uniform: int = 0
    pair: int = 0
    select: int = 0


@dataclass(kw_only=True)
class Group:
    """A group that is issued for `chosen` pixels."""

    context: int
    chosen: int
    base: int
    last: bool
    indices: list[int]
    names: list[str]
    ports: list[list[Register]]
    pairs: list[tuple[int, int, bool]]
    """Row, half, whether it exists."""
    literals: list[int]
    operands: list[list[Operand]]
    targets: list[Register]
    writes: list[bool]
    trans_channel: int
    results: list[list[int]] = field(default_factory=list)
    """[slot][pixel]"""
    predicate: int = 0
    kills: list[int] = field(default_factory=lambda: [0] * SLOTS)

    def channel(self, slot: int) -> int:
        """The channel that a slot writes."""
        return self.trans_channel if slot == TRANS else slot

    def execute(self, size: int, gprs: int, words: Words, constant: Constant, previous: list[list[int]]) -> None:
        """Find its results in wavefronts of `size`; words are asked for slice by slice."""
        self.results = [[0] * size for _ in range(SLOTS)]
        read: dict[tuple[int, int], list[int]] = {}
        for cycle, ports in enumerate(self.ports):
            for channel, port in enumerate(ports):
                found: list[int] = []
                offset = port.offset(self.indices, gprs)
                first = self.base
                while len(found) < size:
                    of_slice = words(first + (offset or 0), channel)
                    found += of_slice if offset is not None else [0] * len(of_slice)
                    first += gprs + 4
                read[cycle, channel] = found
        for slot, name in enumerate(self.names):
            for pixel in range(size):
                own = [self._word(each, pixel, read, constant, previous) for each in self.operands[slot]]
                self.results[slot][pixel] = OPERATIONS[name](own[0], own[1], own[2])
                holds = own[0] == own[1]
                self.predicate |= int(name.startswith("PRED") and holds) << pixel
                self.kills[slot] |= int(name.startswith("KILL") and holds) << pixel

    def _word(
        self, each: Operand, pixel: int, read: dict[tuple[int, int], list[int]], constant: Constant,
        previous: list[list[int]],
    ) -> int:  # fmt: skip
        """An operand of a pixel."""
        if each.source == REGISTER:
            return read[each.cycle, each.channel][pixel]
        if each.source in (VECTOR, SCALAR):
            return previous[TRANS if each.source == SCALAR else each.channel][pixel]
        if each.uniform == CONSTANT:
            row, _, exists = self.pairs[each.pair]
            return constant(row)[each.channel] if exists else 0
        return self.literals[each.channel] if each.select == LITERAL else INLINE[each.select]

    def index(self, slot: int, pixel: int) -> int:
        """What a MOVA gives."""
        return max(-256, min(255, signed(self.results[slot][pixel])))


class Draw:
    """Random groups."""

    def __init__(self, draw: np.random.Generator, *, size: int, gprs: int, rows: int, slices: int) -> None:
        self._draw, self._size, self._gprs, self._rows, self._slices = draw, size, gprs, rows, slices

    def _chance(self, probability: float) -> bool:
        return bool(self._draw.random() < probability)

    def _of(self, *values: Any) -> Any:
        return values[int(self._draw.integers(len(values)))]

    def _register(self) -> Register:
        number = self._of(0, 1, self._gprs - 1, self._gprs, 123, 124, 127, int(self._draw.integers(self._gprs)))
        return Register(number=number, relative=self._chance(0.3), mode=int(self._draw.integers(LOOP + 1)))

    def group(self, context: int, *, has_previous: bool) -> Group:
        """A group for a context, for all pixels if nothing is known of previous results."""
        draw = self._draw
        names = [self._of(*PLAIN) for _ in range(SLOTS)]
        if self._chance(0.3):
            names[int(draw.integers(SLOTS))] = "PRED_SETE_INT"
        else:
            names = ["KILLE_INT" if self._chance(0.2) else name for name in names]
        if self._chance(0.3):
            names[int(draw.integers(TRANS))] = "MOVA_INT"
        pairs = [(int(draw.integers(256)), int(draw.integers(2)), self._chance(0.8)) for _ in range(PAIRS)]
        operands = [[self._operand(pairs, has_previous) for _ in range(OPERANDS)] for _ in range(SLOTS)]
        for each in operands:
            # So that comparisons hold.
            if self._chance(0.3):
                each[1] = each[0]
        chosen = (1 << self._size) - 1
        if has_previous and self._chance(0.5):
            chosen = int.from_bytes(draw.bytes(8), "little") & chosen
        return Group(
            context=context, chosen=chosen, base=int(draw.integers(self._rows - self._slices * (self._gprs + 4) + 1)),
            last=self._chance(0.3), names=names,
            indices=[*(int(draw.choice([0, 1, -1, 255, -256])) for _ in range(CHANNELS)), int(draw.integers(512))],
            ports=[[self._register() for _ in range(CHANNELS)] for _ in range(CYCLES)], pairs=pairs,
            literals=[int(word) for word in draw.integers(0, 1 << 32, CHANNELS)], operands=operands,
            targets=[self._register() for _ in range(SLOTS)], writes=[self._chance(0.7) for _ in range(SLOTS)],
            trans_channel=int(draw.integers(CHANNELS)),
        )  # fmt: skip

    def _operand(self, pairs: list[tuple[int, int, bool]], has_previous: bool) -> Operand:
        draw, kind = self._draw, self._of(REGISTER, REGISTER, REGISTER, UNIFORM, VECTOR, SCALAR)
        channel = int(draw.integers(CHANNELS))
        if kind == REGISTER or (kind != UNIFORM and not has_previous):
            return Operand(source=REGISTER, channel=channel, cycle=int(draw.integers(CYCLES)))
        if kind != UNIFORM:
            return Operand(source=kind, channel=channel)
        if self._chance(0.5):
            pair = int(draw.integers(PAIRS))
            channel = 2 * pairs[pair][1] + channel % 2
            return Operand(source=UNIFORM, channel=channel, uniform=CONSTANT, pair=pair)
        return Operand(source=UNIFORM, channel=channel, uniform=VALUE, select=self._of(LITERAL, LITERAL, *INLINE))

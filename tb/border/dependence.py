"""Which bits of signals follow from which in the same cycle, by the statements of elaborated hardware.

Nothing is simplified: whatever a statement names is a source, be it by a condition that never holds. Only what is asked
for is looked at, so that arithmetic between registers takes no time.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from amaranth.hdl import Fragment, Instance, Signal, Value
from amaranth.hdl._ast import (
    AnyValue,
    Assign,
    ClockSignal,
    Concat,
    Const,
    Initial,
    Operator,
    Part,
    ResetSignal,
    Slice,
    Switch,
    SwitchValue,
)
from amaranth.hdl._mem import MemoryInstance

Bits = frozenset[int]
"""Bits of signals by their numbers."""
_NOTHING: Bits = frozenset()
_SOURCELESS = (AnyValue, ClockSignal, Const, Initial, ResetSignal)
_UP_TO_OWN = ("+", "-", "*", "<<")
"""A bit of the result follows from bits of operands up to the same index, and from all bits of a shift amount."""
_BITWISE = ("&", "|", "^", "~")


class Dependence:
    """The combinational statements of a fragment and of all that are in it.

    Fragments are numbered in the order in which one comes before those in it.
    """

    def __init__(self, top: Fragment) -> None:
        self.numbers: dict[int, range] = {}
        """By the identity of a fragment, the numbers of it and of all that are in it."""
        self._drivers: defaultdict[int, list[tuple[int, Any, tuple[Value, ...]]]] = defaultdict(list)
        self._first_bits: dict[int, int] = {}
        self._signals: list[tuple[int, int]] = []
        self._values: dict[int, list[Bits]] = {}
        self._sources: dict[int, dict[int, Bits]] = {}
        self._kept: list[object] = []
        self._add(top, 0)

    def bits(self, signal: Signal) -> range:
        """The numbers of a signal's bits."""
        if signal.duid not in self._first_bits:
            self._first_bits[signal.duid] = len(self._signals)
            self._signals += ((signal.duid, number) for number in range(len(signal)))
        first = self._first_bits[signal.duid]
        return range(first, first + len(signal))

    def reached(self, outputs: Sequence[int], inputs: Mapping[int, int], within: range) -> dict[int, int]:
        """For each output bit, which input bits it follows from by statements of fragments with numbers in `within`.

        `inputs` are masks by the numbers of bits, and so are the results: those of all inputs that are found.

        Raises
        ------
        ValueError
            A bit follows from itself.
        """
        masks: dict[int, int] = {}
        for output in outputs:
            waiting: list[tuple[int, bool]] = [(output, False)]
            open_bits: set[int] = set()
            while waiting:
                bit, is_closed = waiting.pop()
                sources = self.sources(bit, within)
                if is_closed:
                    open_bits.remove(bit)
                    masks[bit] = inputs.get(bit, 0)
                    for source in sources:
                        masks[bit] |= masks[source]
                elif bit not in masks:
                    if bit in open_bits:
                        raise ValueError("a bit follows from itself in the same cycle")
                    open_bits.add(bit)
                    waiting.append((bit, True))
                    waiting += ((source, False) for source in sources if source not in masks)
        return {output: masks[output] for output in outputs}

    def sources(self, bit: int, within: range) -> Bits:
        """From which bits one follows by statements of these fragments."""
        duid, _ = self._signals[bit]
        found: set[int] = set()
        for fragment, statement, conditions in self._drivers.get(duid, ()):
            if fragment in within:
                found |= self._expanded(statement, conditions).get(bit, _NOTHING)
        return frozenset(found)

    def _add(self, fragment: Fragment, number: int) -> int:
        """Take in a fragment and those in it; the next number."""
        if isinstance(fragment, Instance):
            raise TypeError(f"what an instance of {fragment.type} does is not known")
        following = number + 1
        if isinstance(fragment, MemoryInstance):
            for port in fragment._read_ports:
                if port._domain == "comb":
                    self._drive(number, Assign(port._data, port._addr), (port._addr,))
        for statement, conditions in _assignments(fragment.statements.get("comb", ()), ()):
            self._drive(number, statement, conditions)
        for inner, _, _ in fragment.subfragments:
            following = self._add(inner, following)
        self.numbers[id(fragment)] = range(number, following)
        return following

    def _drive(self, fragment: int, statement: Any, conditions: tuple[Value, ...]) -> None:
        for signal in statement.lhs._lhs_signals():
            self._drivers[signal.duid].append((fragment, statement, conditions))
        # What is remembered by its identity must stay.
        self._kept.append(statement)

    def _expanded(self, statement: Any, conditions: tuple[Value, ...]) -> dict[int, Bits]:
        if id(statement) not in self._sources:
            decided = _union(self._of(condition) for condition in conditions)
            targets, selecting = self._targets(statement.lhs)
            given = _extended(self._of(statement.rhs), len(targets), statement.rhs.shape().signed)
            found: defaultdict[int, set[int]] = defaultdict(set)
            for bits, sources in zip(targets, given, strict=True):
                for bit in bits:
                    found[bit] |= sources | decided | selecting
            self._sources[id(statement)] = {bit: frozenset(sources) for bit, sources in found.items()}
        return self._sources[id(statement)]

    def _targets(self, value: Value) -> tuple[list[Bits], Bits]:
        """For each bit of what is assigned to, the bits that it may be, and by what it is chosen."""
        match value:
            case Signal():
                return [frozenset((bit,)) for bit in self.bits(value)], _NOTHING
            case Slice():
                inner, selecting = self._targets(value.value)
                return inner[value.start : value.stop], selecting
            case Operator(operator="u" | "s"):
                return self._targets(value.operands[0])
            case Concat():
                operands = [self._targets(operand) for operand in value.parts]
                return [bit for bits, _ in operands for bit in bits], _union([[selecting] for _, selecting in operands])
            case Part():
                inner, selecting = self._targets(value.value)
                return _chosen(inner, value.width, value.stride), selecting | _union([self._of(value.offset)])
            case SwitchValue():
                cases = [self._targets(each) for _, each in value.cases]
                length = max(len(bits) for bits, _ in cases)
                bits = [_union([case[number : number + 1] for case, _ in cases]) for number in range(length)]
                return bits, _union([self._of(value.test), [selecting for _, selecting in cases]])
        raise TypeError(f"{type(value).__name__} is assigned to")

    def _of(self, value: Value) -> list[Bits]:
        """The sources of each bit of a value."""
        if id(value) not in self._values:
            self._values[id(value)] = self._found(value)
            self._kept.append(value)
        return self._values[id(value)]

    def _found(self, value: Value) -> list[Bits]:
        match value:
            case Signal():
                return [frozenset((bit,)) for bit in self.bits(value)]
            case Slice():
                return self._of(value.value)[value.start : value.stop]
            case Concat():
                return [bit for operand in value.parts for bit in self._of(operand)]
            case Part():
                offset = _union([self._of(value.offset)])
                return [bits | offset for bits in _chosen(self._of(value.value), value.width, value.stride)]
            case SwitchValue():
                test = _union([self._of(value.test)])
                cases = [_extended(self._of(each), len(value), each.shape().signed) for _, each in value.cases]
                return [_union([case[number : number + 1] for case in cases]) | test for number in range(len(value))]
            case Operator():
                return self._operated(value)
        if isinstance(value, _SOURCELESS):
            return [_NOTHING] * len(value)
        raise TypeError(f"{type(value).__name__} is read")

    def _operated(self, value: Operator) -> list[Bits]:
        operands = [self._of(operand) for operand in value.operands]
        wide = [
            _extended(bits, len(value), operand.shape().signed)
            for bits, operand in zip(operands, value.operands, strict=True)
        ]
        numbers = range(len(value))
        if value.operator in ("u", "s"):
            return operands[0]
        if value.operator in _BITWISE:
            return [_union([bits[number : number + 1] for bits in wide]) for number in numbers]
        if value.operator in _UP_TO_OWN:
            whole = _union(operands[1:]) if value.operator == "<<" else _NOTHING
            return [_union([bits[: number + 1] for bits in wide]) | whole for number in numbers]
        if value.operator == ">>":
            return [_union([wide[0][number:], operands[1]]) for number in numbers]
        return [_union(operands)] * len(value)


def _assignments(statements: Iterable[Any], conditions: tuple[Value, ...]) -> Iterator[tuple[Any, tuple[Value, ...]]]:
    """Assignments, and all that decides whether they are made."""
    for statement in statements:
        if isinstance(statement, Switch):
            for _, inner, _ in statement.cases:
                yield from _assignments(inner, (*conditions, statement.test))
        elif isinstance(statement, Assign):
            yield statement, conditions


def _chosen(bits: Sequence[Bits], width: int, stride: int) -> list[Bits]:
    """The bits of a field of so many bits that begins at any multiple of the stride."""
    return [_union([bits[number::stride]]) for number in range(width)]


def _extended(bits: list[Bits], length: int, is_signed: bool) -> list[Bits]:
    more = bits[-1:] if is_signed and bits else [_NOTHING]
    return (bits + more * (length - len(bits)))[:length]


def _union(lists: Iterable[Iterable[Bits]]) -> Bits:
    return frozenset(bit for bits in lists for each in bits for bit in each)

"""List scheduling: fetches early, and side by side what one instruction can do in several channels.

Variables that such an instruction reads or writes are joined into one register, unless joined elsewhere before:
those of inner loops come first. What goes into the other unit beside it prefers that unit's channels.
"""

from collections.abc import Iterator
from itertools import zip_longest

from ctm.rtl.isa.limits import CHANNELS
from ctm.sim.compiler.r5xx.operations import ALPHA_ONLY, APART, Constant, Operand, Operation, Steps
from ctm.sim.compiler.r5xx.order.dependences import Dependences, Order
from ctm.sim.compiler.r5xx.order.runs import access, each_run
from ctm.sim.compiler.r5xx.register_sets import RegisterSets


def scheduled(steps: Steps, register_sets: RegisterSets) -> Steps:
    """The steps in a better order; `register_sets` follows."""
    return each_run(steps, lambda run: list(_Schedule(run, register_sets).operations()))


class _Schedule:
    """A run of operations, to be packed into instructions."""

    def __init__(self, run: list[Operation], register_sets: RegisterSets) -> None:
        self._run = run
        self._register_sets = register_sets
        self._order = Order(Dependences([access(each) for each in run]))

    def operations(self) -> Iterator[Operation]:
        """All of them, those of an instruction consecutive."""
        remaining = len(self._run)
        while remaining:
            self._order.begin()
            is_urgent = self._order.leads_to_fetch(self._order.ready[0])
            numbers = self._pack()
            if len(numbers) < CHANNELS and self._run[numbers[0]].name not in APART:
                numbers += self._beside([self._run[number] for number in numbers], is_urgent)
            remaining -= len(numbers)
            yield from (self._run[number] for number in sorted(numbers))

    def _pack(self) -> list[int]:
        """The most urgent operation, and others that can be further channels of it."""
        first, *others = self._order.ready
        self._order.take([first])
        pack = [first]
        for other in others if _is_wide(self._run[first]) else ():
            together = [self._run[number] for number in (*pack, other)]
            # What was ready may wait for one of the pack by now.
            is_possible = len(pack) < CHANNELS and other in self._order.ready and _are_alike(*together[-2:])
            if is_possible and self._register_sets.joined(_registers(together)):
                pack.append(other)
                self._order.take([other])
        return pack

    def _beside(self, pack: list[Operation], is_urgent: bool) -> list[int]:
        """An operation for the other unit."""
        is_alpha = pack[0].name in ALPHA_ONLY
        results = [result for each in pack for result in each.results]
        if any(self._register_sets.is_alpha.get(result, is_alpha) != is_alpha for result in results):
            return []
        ready = self._order.ready
        for number in ready:
            operation = self._run[number]
            if self._order.leads_to_fetch(number) != is_urgent or not self._is_free(operation, not is_alpha):
                continue
            # What others are like had better be channels of one with them.
            if not any(other != number and _are_alike(operation, self._run[other]) for other in ready):
                self._register_sets.is_alpha.update(dict.fromkeys(results, is_alpha))
                self._register_sets.is_alpha.update(dict.fromkeys(operation.results, not is_alpha))
                self._order.take([number])
                return [number]
        return []

    def _is_free(self, operation: Operation, is_alpha: bool) -> bool:
        """Whether an operation can be one of a unit, by its result's register and preference."""
        if operation.name in (*APART, "OUT") or operation.name in ALPHA_ONLY and not is_alpha:
            return False
        return all(
            len(self._register_sets.of(result)) == 1 and self._register_sets.is_alpha.get(result, is_alpha) == is_alpha
            for result in operation.results
        )


def _is_wide(operation: Operation) -> bool:
    return bool(operation.results) and operation.name not in (*APART, *ALPHA_ONLY)


def _are_alike(one: Operation, other: Operation) -> bool:
    """Whether two operations can be channels of one."""
    return one.name == other.name and _is_wide(other) and all(
        _can_be_one(*pair) for pair in zip_longest(one.operands, other.operands)
    )  # fmt: skip


def _can_be_one(first: Operand, second: Operand) -> bool:
    """Whether two operands can be channels of one."""
    if (first.negative, first.absolute) != (second.negative, second.absolute):
        return False
    if isinstance(first.value, Constant) and isinstance(second.value, Constant):
        return first.value.number == second.value.number
    if isinstance(first.value, float) and isinstance(second.value, float):
        return (first.value < 0) == (second.value < 0)
    return isinstance(first.value, str) and isinstance(second.value, str)


def _registers(pack: list[Operation]) -> list[list[str]]:
    """The variables that have to be in one register."""
    columns = zip(*(each.operands for each in pack), strict=True)
    sources = [[operand.variable for operand in column if operand.variable] for column in columns]
    return [[name for each in pack for name in each.written], *filter(None, sources)]

"""Divides a group into runs: what is computed at once."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ctm.rtl.isa.r700.limits import VECTOR_SLOTS
from ctm.sim.golden.r700.instruction import Bank, Form, Operand, Run, Slot


def divide(slots: Sequence[Slot]) -> tuple[Run, ...]:
    """The runs of a group, in the order of its slots. A reduction is one."""
    return tuple(map(_run, _divided(slots)))


def _divided(slots: Sequence[Slot]) -> Iterator[list[Slot]]:
    run: list[Slot] = []
    for slot in slots:
        if run and not _goes_on(run[-1], slot):
            yield run
            run = []
        run.append(slot)
    yield run


def _goes_on(one: Slot, other: Slot) -> bool:
    """Whether a slot does the same as the one before in the next channel."""
    operation = one.operation
    if operation is not other.operation or other.position >= VECTOR_SLOTS or other.position != one.position + 1:
        return False
    if operation.is_reduction:
        return True
    is_special = operation.sets_predicate or operation.kills or operation.sets_address
    alike = all(
        getattr(one, name) == getattr(other, name) for name in ("writes", "register", "omod", "clamp", "predicate")
    )
    return alike and not is_special and one.index is None and other.index is None


def _run(slots: Sequence[Slot]) -> Run:
    columns = zip(*(slot.operands for slot in slots), strict=True)
    return Run(slots=tuple(slots), operands=tuple((_form(column), column) for column in columns))


def _form(operands: tuple[Operand, ...]) -> Form:
    first = operands[0]
    if all(operand == first for operand in operands):
        return Form.SAME
    is_row = first.bank is not Bank.VALUE and all(_is_next(one, other) for one, other in pairwise(operands))
    return Form.ROW if is_row else Form.EACH


def _is_next(one: Operand, other: Operand) -> bool:
    """Whether an operand is the next channel of the same source, with the same modifiers."""
    names = ("bank", "kcache_bank", "absolute", "negated")
    if not all(getattr(one, name) == getattr(other, name) for name in names) or one.index or other.index:
        return False
    if one.bank is Bank.PREVIOUS:
        return other.number == one.number + 1
    return other.number == one.number and other.channel == one.channel + 1

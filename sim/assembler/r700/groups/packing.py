"""Packs single operations, each meant to be executed after the one before, into groups.

Every operation goes into the earliest group in which it does the same and which remains legal. A group reads everything
before it writes anything, so an operation can be in the group of one that still reads what it overwrites; not of one
whose result it needs or overwrites.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from ctm.rtl.isa.limits import TEMPORARIES
from ctm.rtl.isa.r700.limits import GROUP_SLOTS
from ctm.sim.assembler.error import SourceError
from ctm.sim.assembler.r700.groups.builder import build
from ctm.sim.assembler.r700.groups.ports import can_be_read
from ctm.sim.assembler.r700.groups.state import PREDICATE, reads, writes
from ctm.sim.assembler.r700.groups.view import View, views_of
from ctm.sim.assembler.r700.syntax import Group, Pack

_FARTHEST = 64
"""Groups that an operation moves forward at most: of more there is no end to looking."""
_MASK = "the execute mask"
_Register = str | tuple[int, int]
"""A register's component, or something else that operations share."""


def pack(item: Pack) -> list[Group]:
    """The groups that do what the operations do one after the other; their words are written.

    Raises
    ------
    SourceError
        An operation cannot be packed, or is illegal by itself.
    """
    found: list[Group] = []
    written: dict[_Register, int] = {}
    read: dict[_Register, int] = {}
    for operation in [_operation(group) for group in item.groups]:
        after = [written[index] + 1 for index in operation.reads | operation.writes if index in written]
        # That the predicate is read before it is written is not said of one group.
        beside = [read[index] + (index == PREDICATE) for index in operation.writes if index in read]
        earliest = max([*after, *beside, len(found) - _FARTHEST, 0])
        index = next((number for number in range(earliest, len(found)) if _add(found, number, operation)), len(found))
        if index == len(found):
            found.append(operation.group)
        for what in operation.writes:
            written[what] = max(index, written.get(what, 0))
        for what in operation.reads:
            read[what] = max(index, read.get(what, 0))
    return found


@dataclass(frozen=True, eq=False)
class _Operation:
    """An operation as a group by itself."""

    group: Group

    @property
    def views(self) -> Sequence[View]:
        return views_of(self.group.drafts)

    @cached_property
    def reads(self) -> frozenset[_Register]:
        """What it depends on; all do on the execute mask."""
        return frozenset({_MASK}).union(*(_read(view) for view in self.views))

    @cached_property
    def writes(self) -> frozenset[_Register]:
        """What it changes."""
        return frozenset[_Register]().union(*(_written(view) for view in self.views))


def _operation(group: Group) -> _Operation:
    if not group.checked:
        raise SourceError("packing makes legal groups: .unchecked is not allowed here", group.position)
    single = Group(group.position, list(group.instructions), group.literals)
    for instruction in single.instructions:
        for source in instruction.sources:
            if source.is_previous:
                raise SourceError("inside .pack a result has no name but its register's: PV and PS", source.position)
    if group.literals is not None:
        raise SourceError("inside .pack literals are written as numbers", group.position)
    build(single, ())
    return _Operation(single)


def _add(found: list[Group], number: int, operation: _Operation) -> bool:
    """Put an operation into a group if that remains legal."""
    instructions = [*found[number].instructions, *operation.group.instructions]
    drafts = [*found[number].drafts, *operation.group.drafts]
    if len(instructions) > GROUP_SLOTS or not can_be_read(views_of(drafts)):
        return False
    together = Group(found[number].position, instructions)
    try:
        build(together, ())
    except SourceError:
        return False
    found[number] = together
    return True


def _components(number: int, channel: int, *, relative: bool) -> Iterator[_Register]:
    for register in range(TEMPORARIES) if relative else (number,):
        yield register, channel


def _read(view: View) -> set[_Register]:
    found: set[_Register] = set(reads(view))
    for operand in view.operands:
        if operand.is_register:
            found.update(_components(operand.select, operand.channel, relative=operand.relative))
    return found


def _written(view: View) -> set[_Register]:
    found: set[_Register] = set(writes(view))
    if view.flag("update_execute_mask"):
        found.add(_MASK)
    if view.writes:
        get = view.draft.get
        found.update(_components(get("dst_gpr"), view.channel, relative=bool(get("dst_rel"))))
    return found

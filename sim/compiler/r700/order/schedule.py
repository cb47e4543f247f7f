"""Operations of a clause in groups: what much depends on comes first, and every group takes what still fits into it.

A result that the next group reads needs no read port there. Results that are not read after the clause get whatever
component of a register is free in the meantime, clause temporaries among them, so that they fit the slot that is free.
"""

from collections.abc import Iterator, Sequence

from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r700.alu import PREVIOUS_SCALAR, PREVIOUS_VECTOR
from ctm.rtl.isa.r700.limits import CLAUSE_TEMPORARIES, FIRST_CLAUSE_TEMPORARY, GROUP_SLOTS, TRANS_SLOT, VECTOR_SLOTS
from ctm.rtl.isa.r700.operations import Slots
from ctm.sim.compiler.r700.order.operations import (
    Component,
    Constant,
    Entry,
    FixedError,
    Lifted,
    Node,
    Value,
    component_of,
)
from ctm.sim.compiler.r700.order.ports import Member, Operand, member, swizzles


class Group:
    """A group in the making: operations by slot, and where their results go."""

    def __init__(self) -> None:
        self.members: dict[int, Member] = {}
        self.nodes: dict[int, tuple[Node, int]] = {}
        """By slot an operation, and which of its instructions is there."""

    def excludes(self, node: Node) -> bool:
        """Whether an operation cannot be with those that are there: a group has one PRED_SET, or KILLs."""
        others = [other.operation for other, _ in self.nodes.values()]
        operation = node.operation
        if operation.sets_predicate:
            return any(other.sets_predicate or other.kills for other in others)
        return operation.kills and any(other.sets_predicate for other in others)

    def add(self, node: Node, added: dict[int, Member]) -> bool:
        """Take an operation, if that is possible."""
        together = {**self.members, **added}
        if swizzles(list(together.values())) is None:
            return False
        self.members = together
        self.nodes |= {slot: (node, number) for number, slot in enumerate(added)}
        return True


class Scheduler:
    """Puts the operations of one clause into groups; a program has `gprs` registers."""

    def __init__(self, clause: Lifted, gprs: int) -> None:
        self._remaining = list(clause.nodes)
        self._heights = _heights(clause.nodes)
        self._predecessors = {node: {*node.sources, *node.after} for node in clause.nodes}
        self._waiting: dict[Node | Entry, int] = {}
        """How many operations have yet to read a value."""
        for node in clause.nodes:
            for value in node.values:
                self._waiting[value] = self._waiting.get(value, 0) + 1
        self._finals = {node.final for node in clause.nodes if node.final is not None}
        numbers = [*range(gprs), *range(FIRST_CLAUSE_TEMPORARY, FIRST_CLAUSE_TEMPORARY + CLAUSE_TEMPORARIES)]
        taken = clause.held | self._finals | set(clause.readers)
        self._free: list[list[Component]] = [
            [where for number in reversed(numbers) if (where := component_of(number, channel)) not in taken]
            for channel in range(CHANNELS)
        ]
        self._held = clause.held
        self.groups: list[Group] = []
        self.components: dict[Node, Component] = {}
        self._at: dict[Node, tuple[int, int]] = {}
        """The group and the slot of an operation."""

    def run(self) -> list[Group]:
        """All groups.

        Raises
        ------
        FixedError
            The operations block each other.
        """
        self._remaining.sort(key=lambda node: -self._heights[node])
        while self._remaining:
            group = Group()
            self.groups.append(group)
            possible = [node for node in self._remaining if self._is_possible(node)]
            added = True
            while added and len(group.members) < GROUP_SLOTS:
                added = False
                for node in [node for node in possible if node not in self._at and self._is_ready(node)]:
                    if len(group.members) < GROUP_SLOTS and self._add(group, node):
                        added = True
            if not group.members:
                raise FixedError
        return self.groups

    def _is_possible(self, node: Node) -> bool:
        """Whether all that has to be in groups before is there."""
        return all(each in self._at for each in self._predecessors[node])

    def _is_ready(self, node: Node) -> bool:
        """Whether what may be in the same group is in it, of an operation that is possible there."""
        if node.ends and len(self._remaining) > 1:
            return False
        return all(each in self._at for each in node.before)

    def _add(self, group: Group, node: Node) -> bool:
        if group.excludes(node):
            return False
        for slot, where in self._choices(group, node):
            slots = range(VECTOR_SLOTS) if node.operation.is_reduction else [slot]
            added = {each: self._member(node, number, each) for number, each in enumerate(slots)}
            fitting = {each: made for each, made in added.items() if made is not None}
            if len(fitting) == len(added) and group.add(node, fitting):
                self._take(node, slot, where)
                return True
        return False

    def _choices(self, group: Group, node: Node) -> Iterator[tuple[int, Component | None]]:
        """Slots that an operation may be in, and the component of its result there."""
        open_slots = [slot for slot in range(VECTOR_SLOTS) if slot not in group.members]
        is_trans = node.operation.slots is Slots.TRANS
        trans = [TRANS_SLOT] if TRANS_SLOT not in group.members else []
        if node.operation.is_reduction:
            if len(open_slots) == VECTOR_SLOTS:
                components = [node.final] if node.final is not None else self._some(range(CHANNELS))
                yield from ((where % CHANNELS, where) for where in components)
            return
        if node.final is None and node not in self._waiting:
            yield from ((slot, None) for slot in ([] if is_trans else open_slots) + (trans if is_trans else []))
        elif node.final is not None:
            channel = node.final % CHANNELS
            if channel in open_slots and not is_trans:
                yield channel, node.final
            elif trans:
                yield TRANS_SLOT, node.final
        elif is_trans:
            yield from ((TRANS_SLOT, where) for where in (self._some(range(CHANNELS)) if trans else ()))
        else:
            yield from ((where % CHANNELS, where) for where in self._some(open_slots))
            if trans:
                closed = [channel for channel in range(CHANNELS) if channel not in open_slots]
                yield from ((TRANS_SLOT, where) for where in self._some(closed)[:1])

    def _some(self, channels: Sequence[int]) -> list[Component]:
        """A free component of each channel, that of the most first."""
        found = [channel for channel in channels if self._free[channel]]
        return [self._free[channel][-1] for channel in sorted(found, key=lambda channel: -len(self._free[channel]))]

    def _member(self, node: Node, number: int, slot: int) -> Member | None:
        return member(slot, tuple(self._operand(value) for value in node.reads[number]))

    def _operand(self, value: Value) -> Operand:
        if isinstance(value, Constant):
            return Operand(*value)
        if isinstance(value, Entry):
            return Operand(*divmod(value.component, CHANNELS))
        group, slot = self._at[value]
        if group == len(self.groups) - 2:
            return Operand(PREVIOUS_SCALAR, 0) if slot == TRANS_SLOT else Operand(PREVIOUS_VECTOR, slot)
        return Operand(*divmod(self.components[value], CHANNELS))

    def _take(self, node: Node, slot: int, where: Component | None) -> None:
        self._remaining.remove(node)
        self._at[node] = len(self.groups) - 1, slot
        if where is not None:
            self.components[node] = where
            if node.final is None:
                self._free[where % CHANNELS].remove(where)
        for value in node.values:
            self._waiting[value] -= 1
            if not self._waiting[value]:
                self._release(value)

    def _release(self, value: Node | Entry) -> None:
        """Nothing more is to read a value: what is written in this group may overwrite it."""
        where = value.component if isinstance(value, Entry) else self.components[value]
        if where not in self._finals and where not in self._held:
            self._free[where % CHANNELS].append(where)


def _heights(nodes: list[Node]) -> dict[Node, int]:
    """How many groups at least an operation and what depends on it take."""
    successors: dict[Node, list[tuple[Node, int]]] = {node: [] for node in nodes}
    for node in nodes:
        for each in [*node.sources, *node.after]:
            successors[each].append((node, 1))
        for each in node.before:
            successors[each].append((node, 0))
    heights: dict[Node, int] = {}

    def height(node: Node, above: frozenset[Node]) -> int:
        if node not in heights:
            if node in above:
                raise FixedError
            heights[node] = max((height(each, above | {node}) + step for each, step in successors[node]), default=0)
        return heights[node]

    for node in reversed(nodes):
        height(node, frozenset())
    return heights

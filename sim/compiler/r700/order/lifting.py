"""From the groups of a clause to its operations: values instead of registers, without copies and dead code."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from ctm.rtl.isa.r700 import alu
from ctm.rtl.isa.r700.alu import INLINE_CONSTANTS, LITERAL, PREVIOUS_SCALAR, PREVIOUS_VECTOR, Op2
from ctm.rtl.isa.r700.limits import TRANS_SLOT
from ctm.sim.compiler.r700.order.decoding import Clause, Instruction
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

_INLINE = {value: select for select, (_, value) in INLINE_CONSTANTS.items()}
_MODIFIERS = ("src0_neg", "src0_abs", "omod", "clamp", "pred_sel")
_DOTS = (Op2.DOT4, Op2.DOT4_IEEE)


@dataclass
class _Shared:
    """A component that predicated instructions write: its contents are what is in the register, not a result."""

    writer: Node | None = None
    readers: list[Node] = field(default_factory=list)


class _Lifting:
    """Follows a clause, group by group."""

    def __init__(self, clause: Clause) -> None:
        self.nodes: list[Node] = []
        self.now: dict[Component, tuple[Value, Node]] = {}
        """What registers hold: a value, and its writer, which for a copy is another."""
        self._previous: dict[int, tuple[Instruction, Value, Node]] = {}
        """What the group before computed, by slot."""
        self._shared = {
            each.destination: _Shared()
            for group in clause.groups
            for each in group
            if each.fields["pred_sel"] and each.destination is not None
        }
        self._setter: Node | None = None
        """What set the predicate last."""
        self._gated: list[Node] = []
        """What the predicate gated since then."""

    def add(self, group: Iterable[Instruction], *, is_last: bool) -> None:
        """Add the operations of the next group."""
        produced: dict[int, tuple[Instruction, Value, Node]] = {}
        added = []
        together = _together(group)
        fields = [members[0].fields for members in together]
        if any(each.get("update_pred") for each in fields) and any(each["pred_sel"] for each in fields):
            raise FixedError
        for members in together:
            node = self._node(members, is_last=is_last)
            value = self._copied(node)
            added.append((members, node, value))
            produced |= {each.slot: (each, value, node) for each in members}
        for members, node, value in added:
            for each in members:
                if each.destination in self._shared:
                    self._overwrite(each.destination, node)
                elif each.destination is not None:
                    self.now[each.destination] = value, node
            self._gate(members[0], node)
            self.nodes.append(node)
        self._previous = produced

    def _node(self, members: list[Instruction], *, is_last: bool) -> Node:
        operation = members[0].operation
        updates = [name for name in ("update_execute_mask", "update_pred") if members[0].fields.get(name)]
        ends = "update_execute_mask" in updates
        if ends and not is_last:
            raise FixedError
        fields = [dict(each.fields) for each in members]
        node = Node(operation, fields, [], members[0].line, operation.kills or bool(updates), ends)
        node.reads = [[self._read(each, number, node) for number in range(operation.operands)] for each in members]
        return node

    def _read(self, each: Instruction, number: int, node: Node) -> Value:
        select, channel = each.fields[f"src{number}_sel"], each.fields[f"src{number}_chan"]
        if select < alu.KCACHE_0:
            return self._register(component_of(select, channel), node)
        if select in (PREVIOUS_VECTOR, PREVIOUS_SCALAR):
            slot = TRANS_SLOT if select == PREVIOUS_SCALAR else channel
            made, value, copy = self._previous[slot]
            if made.destination in self._shared:
                if made.fields["pred_sel"] not in (0, each.fields["pred_sel"]):
                    raise FixedError
                return self._register(made.destination, node)
            return self._still(value, copy)
        if select == LITERAL:
            word = each.literals[channel]
            return Constant(_INLINE[word], 0) if word in _INLINE else Constant(LITERAL, 0, word)
        return Constant(select, channel)

    def _register(self, where: Component, node: Node) -> Value:
        if where in self._shared:
            shared = self._shared[where]
            shared.readers.append(node)
            if shared.writer is not None:
                node.after.add(shared.writer)
            return Entry(where)
        return self._still(*self.now[where]) if where in self.now else Entry(where)

    def _still(self, value: Value, copy: Node) -> Value:
        """A value, or its copy if what was copied is overwritten by now."""
        return copy if isinstance(value, Entry) and value.component in self.now else value

    def _copied(self, node: Node) -> Value:
        """What a copy copies, if it is worth to read that instead; else the operation itself."""
        fields = node.members[0]
        if node.operation.code is not Op2.MOV or any(fields[name] for name in _MODIFIERS):
            return node
        value = node.reads[0][0]
        if isinstance(value, Constant):
            return value if value.select in INLINE_CONSTANTS else node
        return node if isinstance(value, Entry) and value.component in self._shared else value

    def _overwrite(self, where: Component, node: Node) -> None:
        shared = self._shared[where]
        if node.final is not None or node.operation.is_reduction:
            raise FixedError
        node.final = where
        if shared.writer is not None:
            node.after.add(shared.writer)
        node.before |= {reader for reader in shared.readers if reader is not node}
        self._shared[where] = _Shared(node)

    def _gate(self, instruction: Instruction, node: Node) -> None:
        if instruction.fields["pred_sel"]:
            self._gated.append(node)
            if self._setter is not None:
                node.after.add(self._setter)
        if instruction.fields.get("update_pred"):
            node.after |= {gated for gated in self._gated if gated is not node}
            if self._setter is not None:
                node.after.add(self._setter)
            self._setter, self._gated = node, []

    @property
    def shared(self) -> frozenset[Component]:
        """The components that predicated instructions write."""
        return frozenset(where for where in self._shared if where is not None)


def lifted(clause: Clause, live: Collection[Component]) -> Lifted:
    """The operations of a clause after which some components are read.

    Raises
    ------
    FixedError
        It does something that this cannot move.
    """
    lifting = _Lifting(clause)
    for number, group in enumerate(clause.groups):
        lifting.add(group, is_last=number == len(clause.groups) - 1)
    copies = _finals(lifting.now, live)
    result = Lifted(lifting.nodes, frozenset(), {}, copies).without_the_unneeded()
    result.held = frozenset(set(live) - {node.final for node in result.nodes}) | lifting.shared
    for node in result.nodes:
        for entry in node.entries:
            result.readers.setdefault(entry.component, []).append(node)
    for node in result.nodes:
        if node.final is not None and node.final not in lifting.shared:
            node.before.update(reader for reader in result.readers.get(node.final, ()) if reader is not node)
    return result


def _together(group: Iterable[Instruction]) -> list[list[Instruction]]:
    """The instructions of a group; those of a reduction are one."""
    members = list(group)
    single = [[each] for each in members if not each.operation.is_reduction]
    reduction = [each for each in members if each.operation.is_reduction]
    if not reduction:
        return single
    has_one_result = sum(each.destination is not None for each in reduction) == 1
    modifiers = {tuple(each.fields[name] for name in ("omod", "clamp", "pred_sel")) for each in reduction}
    if reduction[0].operation.code not in _DOTS or not has_one_result or len(modifiers) > 1:
        raise FixedError
    return [reduction, *single]


def _finals(now: dict[Component, tuple[Value, Node]], live: Collection[Component]) -> list[tuple[Node, Node]]:
    """Give results that are read after the clause their components; copies of results, with what they copy."""
    copies = []
    for where, (value, made) in now.items():
        if where in live and value != Entry(where):
            made.final = where
            if isinstance(value, Node) and value is not made:
                copies.append((made, value))
    return copies

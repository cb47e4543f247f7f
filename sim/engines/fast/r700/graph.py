"""What of control flow is known before a program runs: at each CF instruction, what is on the stack.

A node is a CF instruction together with the entries of the stack: code with two callers is there twice.
Every fault of control flow is known so, too. Source: R700-Family Instruction Set Architecture, chapter 3.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple

from ctm.rtl.isa.r700.control_flow import EMITS, FETCH_CLAUSES, AluClause, CfOperation, Condition
from ctm.rtl.isa.r700.limits import (
    BRANCH_SUBENTRIES,
    CALL_DEPTH,
    CALL_SUBENTRIES,
    FIRST_BRANCH_SUBENTRIES,
    LOOP_SUBENTRIES,
    SUBENTRIES,
)
from ctm.sim.golden.r700.instruction import AluWord, Export, FetchInstruction, Flow, Group, Illegal, Word
from ctm.sim.golden.r700.program import Code
from ctm.sim.golden.r700.state import EntryKind

CALLS = (CfOperation.CALL, CfOperation.CALL_FS)
LOOP_STARTS = (CfOperation.LOOP_START, CfOperation.LOOP_START_DX10, CfOperation.LOOP_START_NO_AL)
POP_FIRST = {
    CfOperation.POP_JUMP: CfOperation.JUMP,
    CfOperation.POP_PUSH: CfOperation.PUSH,
    CfOperation.POP_PUSH_ELSE: CfOperation.PUSH_ELSE,
}
"""Operations that pop and then are another one that pops nothing."""
POPS_AFTER = {AluClause.ALU_POP_AFTER: 1, AluClause.ALU_POP2_AFTER: 2}

Instruction = Group | FetchInstruction
"""An instruction of a clause."""

_COSTS = {
    EntryKind.BRANCH: BRANCH_SUBENTRIES,
    EntryKind.LOOP: LOOP_SUBENTRIES,
    EntryKind.CALL: CALL_SUBENTRIES,
}
_MOST_NODES = 4096


class TooManyPathsError(Exception):
    """Calls and loops lead to the same code by so many paths that it would be there too often."""


class Entry(NamedTuple):
    """An entry of the stack, by the CF instruction that made it."""

    kind: EntryKind
    word: int
    call_count: int = 0


Stack = tuple[Entry, ...]


class Node(NamedTuple):
    """A CF instruction, and what is on the stack before it."""

    word: int
    stack: Stack = ()

    @property
    def loop(self) -> int | None:
        """The innermost loop's index on the stack."""
        loops = [index for index, entry in enumerate(self.stack) if entry.kind is EntryKind.LOOP]
        return loops[-1] if loops else None


class Exit(Enum):
    """Targets at which no wavefront continues."""

    END = auto()
    FAULT = auto()


Target = Node | Exit


@dataclass(frozen=True)
class Edges:
    """Where wavefronts go that jump, and that go on; None where no wavefront does."""

    jump: Target | None
    on: Target | None


class _StackError(Exception):
    """The stack has no space, or not the entry that is wanted."""


class Graph:
    """All that can be reached from the CF instruction `start` with a stack of `entries`.

    Raises
    ------
    TooManyPathsError
        There are more nodes than `_MOST_NODES`.
    """

    def __init__(self, code: Code, *, start: int, entries: int) -> None:
        self._code, self._capacity = code, SUBENTRIES * entries
        self.entry = Node(start)
        self.edges: dict[Node, Edges] = {}
        """Of nodes whose word is legal, in the order in which they were found."""
        found, waiting = {self.entry}, [self.entry]
        while waiting:
            node = waiting.pop()
            if self.word(node) is None:
                continue
            self.edges[node] = edges = self._edges(node)
            for following in (edges.on, edges.jump):
                if isinstance(following, Node) and following not in found:
                    found.add(following)
                    waiting.append(following)
            if len(found) > _MOST_NODES:
                raise TooManyPathsError
        self.faulty = tuple(node for node in found if node not in self.edges)
        """Nodes at which every wavefront faults."""

    def word(self, node: Node) -> Word | None:
        """The word of a node; None if it is illegal there."""
        if node.word >= len(self._code):
            return None
        word = self._code.word(node.word)
        if isinstance(word, Illegal) or (isinstance(word, Export) and word.relative and node.loop is None):
            return None
        return word

    def starts_clause(self, node: Node) -> bool:
        """Whether the word of a node starts a clause."""
        return isinstance(word := self.word(node), AluWord) or (isinstance(word, Flow) and word.units > 0)

    def clause(self, node: Node) -> tuple[Instruction, ...] | None:
        """The instructions of a node whose word starts a clause; None if they cannot be executed to the end."""
        clause = self._code.clause(node.word)
        found = () if clause is None else clause.instructions
        legal = tuple(instruction for instruction in found if not isinstance(instruction, Illegal))
        return legal if clause is not None and len(legal) == len(found) else None

    def loop_start(self, node: Node) -> Flow:
        """The word that began the innermost loop, which there is."""
        assert node.loop is not None
        word = self._code.word(node.stack[node.loop].word)
        assert isinstance(word, Flow)
        return word

    @property
    def may_fault(self) -> bool:
        """Whether anything that can be reached faults."""
        if self.faulty:
            return True
        if any(Exit.FAULT in (edges.jump, edges.on) for edges in self.edges.values()):
            return True
        return any(self.starts_clause(node) and self.clause(node) is None for node in self.edges)

    def _edges(self, node: Node) -> Edges:
        word = self.word(node)
        assert word is not None
        edges = self._paths(node, word)
        if not word.ends:
            return edges
        ends = [None if to is None else Exit.FAULT if to is Exit.FAULT else Exit.END for to in (edges.jump, edges.on)]
        return Edges(*ends)

    def _paths(self, node: Node, word: Word) -> Edges:
        """Where a word leads if it does not end the program."""
        if isinstance(word, AluWord):
            return Edges(None, self._to(node.word + 1, lambda: self._after_clause(node, word)))
        if isinstance(word, Export) or word.operation in (*FETCH_CLAUSES, *_WITHOUT_EFFECT):
            return Edges(None, Node(node.word + 1, node.stack))
        return self._flow(node, word, word.operation)

    def _after_clause(self, node: Node, word: AluWord) -> Stack:
        stack = node.stack
        if word.operation is AluClause.ALU_PUSH_BEFORE:
            return self._pushed(stack, Entry(EntryKind.BRANCH, node.word))
        if word.operation is AluClause.ALU_ELSE_AFTER:
            _check_top(stack, EntryKind.BRANCH)
        return _popped(stack, POPS_AFTER.get(word.operation, 0))

    def _flow(self, node: Node, word: Flow, operation: CfOperation) -> Edges:
        stack, following = node.stack, node.word + 1
        if operation in POP_FIRST:
            popped = self._to(node.word, lambda: _popped(stack, word.pop_count))
            if not isinstance(popped, Node):
                return Edges(Exit.FAULT, Exit.FAULT)
            return self._branch(popped, word, POP_FIRST[operation], 0)
        if operation in (CfOperation.JUMP, CfOperation.PUSH, CfOperation.PUSH_ELSE, CfOperation.ELSE, *LOOP_STARTS):
            return self._branch(node, word, operation, word.pop_count)
        if operation is CfOperation.POP:
            return Edges(None, self._to(following, lambda: _popped(stack, word.pop_count)))
        if operation in CALLS:
            return Edges(self._called(node, word), Node(following, stack))
        if operation is CfOperation.RETURN:
            is_call = bool(stack) and stack[-1].kind is EntryKind.CALL
            return Edges(Node(stack[-1].word + 1, stack[:-1]) if is_call else Exit.FAULT, Node(following, stack))
        loop = node.loop
        if loop is None:
            return Edges(Exit.FAULT, Exit.FAULT)
        jump = Node(word.target, stack[: loop + 1])
        return Edges(jump, Node(following, stack[:loop] if operation is CfOperation.LOOP_END else stack))

    def _branch(self, node: Node, word: Flow, operation: CfOperation, pops: int) -> Edges:
        """Words that pop and jump where no lane is active."""
        stack, following = node.stack, node.word + 1
        pushes = operation in (CfOperation.PUSH, CfOperation.PUSH_ELSE, *LOOP_STARTS)
        kind = EntryKind.LOOP if operation in LOOP_STARTS else EntryKind.BRANCH
        on: Target = Node(following, stack)
        if pushes:
            on = self._to(following, lambda: self._pushed(stack, Entry(kind, node.word)))
        elif operation is CfOperation.ELSE and not _has_top(stack, EntryKind.BRANCH):
            on = Exit.FAULT
        if operation in (CfOperation.PUSH_ELSE, CfOperation.ELSE):
            # These push or invert first.
            if not isinstance(on, Node):
                return Edges(Exit.FAULT, Exit.FAULT)
            stack = on.stack
        jump: Target | None = self._to(word.target, lambda: _popped(stack, pops))
        if operation is CfOperation.JUMP and word.condition is Condition.FALSE:
            return Edges(jump, None)
        return Edges(jump, on)

    def _called(self, node: Node, word: Flow) -> Target | None:
        depth = sum(entry.call_count for entry in node.stack) + word.call_count
        if depth > CALL_DEPTH:
            return None
        entry = Entry(EntryKind.CALL, node.word, word.call_count)
        return self._to(word.target, lambda: self._pushed(node.stack, entry))

    def _pushed(self, stack: Stack, entry: Entry) -> Stack:
        stack = (*stack, entry)
        kinds = [each.kind for each in stack]
        cost = sum(_COSTS[kind] for kind in kinds) + FIRST_BRANCH_SUBENTRIES * (EntryKind.BRANCH in kinds)
        if cost > self._capacity:
            raise _StackError
        return stack

    @staticmethod
    def _to(word: int, stack: Callable[[], Stack]) -> Target:
        """A word with a stack, if that is right."""
        try:
            return Node(word, stack())
        except _StackError:
            return Exit.FAULT


_WITHOUT_EFFECT = (CfOperation.NOP, CfOperation.KILL, CfOperation.WAIT_ACK, *EMITS)


def _has_top(stack: Stack, kind: EntryKind) -> bool:
    return bool(stack) and stack[-1].kind is kind


def _check_top(stack: Stack, kind: EntryKind) -> None:
    if not _has_top(stack, kind):
        raise _StackError


def _popped(stack: Stack, count: int) -> Stack:
    for _ in range(count):
        _check_top(stack, EntryKind.BRANCH)
        stack = stack[:-1]
    return stack

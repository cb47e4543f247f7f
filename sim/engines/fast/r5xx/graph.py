"""What of flow control is known before a program runs: at each instruction, which loops and calls a wavefront is in.

A node is an instruction together with its loops and calls, so that code with two callers is there twice.
Nodes have an order, in which wavefronts that diverge wait for each other: of all wavefronts of a vector those at the
lowest node go on. Source: CTM Guide pp. 34-38.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ctm.rtl.isa.r5xx.limits import ADDRESS_STACK, LOOP_STACK
from ctm.rtl.isa.r5xx.opcodes import AddressOperation, FlowOperation
from ctm.sim.golden.r5xx.instruction import Flow, Illegal, Instruction

BEGINS = {FlowOperation.LOOP, FlowOperation.REP}
ENDS = {FlowOperation.ENDLOOP: FlowOperation.LOOP, FlowOperation.ENDREP: FlowOperation.REP}
BREAKS = {FlowOperation.BREAKLOOP: FlowOperation.LOOP, FlowOperation.BREAKREP: FlowOperation.REP}
_KINDS = ENDS | BREAKS
NEVER, ALWAYS = 0, 0xFF
"""Jump functions whose result is that of no register."""
_MOST_NODES = 1024
"""Twice the longest program. Four times as many take LLVM half a minute, in which no signal is heard."""


class TooManyPathsError(Exception):
    """Calls lead to the same code by so many paths that it would be there too often."""


class Loop(NamedTuple):
    """A loop frame, by the instruction that made it and the calls there."""

    kind: FlowOperation
    pc: int
    returns: tuple[int, ...]


class Node(NamedTuple):
    """An instruction on one path of calls and loops."""

    pc: int
    loops: tuple[Loop, ...] = ()
    returns: tuple[int, ...] = ()

    @property
    def position(self) -> tuple[int, ...]:
        """Its position in the order: called code is at its call."""
        return (*(pc - 1 for pc in self.returns), self.pc)

    @property
    def level(self) -> int:
        """Loops around it that have an index."""
        return sum(loop.kind is FlowOperation.LOOP for loop in self.loops)


@dataclass(frozen=True)
class Edges:
    """Targets of wavefronts that jump and that stay; None where they fault. No wavefront takes an impossible path."""

    jump: Node | None
    stay: Node | None
    may_jump: bool = True
    may_stay: bool = True

    @property
    def targets(self) -> list[Node]:
        """Where wavefronts go that do not fault."""
        paths = ((self.jump, self.may_jump), (self.stay, self.may_stay))
        return [to for to, is_possible in paths if to is not None and is_possible]


class Graph:
    """All that can be reached from `start`. A program ends after the instruction `end`.

    Raises
    ------
    TooManyPathsError
        There are more nodes than `_MOST_NODES`.
    """

    def __init__(self, code: Sequence[Instruction], *, start: int, end: int, full_flow_control: bool) -> None:
        self._code, self._end, self._full = code, end, full_flow_control
        self.entry = Node(start)
        self.edges: dict[Node, Edges] = {}
        """Of flow-control instructions that do not always fault."""
        found, waiting = {self.entry}, [self.entry]
        while waiting:
            for following in self._successors(waiting.pop()):
                if following not in found:
                    found.add(following)
                    waiting.append(following)
            if len(found) > _MOST_NODES:
                raise TooManyPathsError
        self.nodes = sorted(found, key=lambda node: node.position)

    def always_faults(self, node: Node) -> bool:
        """Whether every wavefront that comes to a node faults there."""
        if node.pc >= len(self._code):
            return True
        instruction = self._code[node.pc]
        if not isinstance(instruction, Flow):
            return isinstance(instruction, Illegal)
        operation = instruction.operation
        if operation is not FlowOperation.CONTINUE and operation not in _KINDS:
            return False
        return not node.loops or node.loops[-1].kind is not _KINDS.get(operation, node.loops[-1].kind)

    def flow(self, node: Node) -> Flow:
        """The flow-control instruction of a node that has edges."""
        instruction = self._code[node.pc]
        assert isinstance(instruction, Flow)
        return instruction

    @cached_property
    def keeps_wavefronts_together(self) -> bool:
        """Whether wavefronts that meet at a node have always gone round the loops there equally often.

        They have if a loop's code, and nothing else, lies between its beginning and its one end: no wavefront that
        waits there is overtaken, and all wait at the end for each other. Nodes where every wavefront faults do not
        count.
        """
        nodes = [node for node in self.nodes if not self.always_faults(node)]
        index = {node: number for number, node in enumerate(nodes)}
        inside: dict[tuple[Loop, ...], list[int]] = {}
        for node, number in index.items():
            for depth in range(len(node.loops)):
                inside.setdefault(node.loops[: depth + 1], []).append(number)
        for loops, numbers in inside.items():
            loop = loops[-1]
            first = index[Node(loop.pc, loops[:-1], loop.returns)] + 1
            if numbers != list(range(first, first + len(numbers))):
                return False
            ends = [number for number in numbers if self._ends(nodes[number], loops)]
            if ends not in ([], numbers[-1:]):
                return False
        return True

    def _ends(self, node: Node, loops: tuple[Loop, ...]) -> bool:
        return node.loops == loops and node in self.edges and self.flow(node).operation in ENDS

    def _successors(self, node: Node) -> list[Node]:
        if self.always_faults(node):
            return []
        if isinstance(self._code[node.pc], Flow):
            self.edges[node] = edges = self._edges(node)
            return [] if node.pc == self._end else edges.targets
        return [] if node.pc == self._end else [node._replace(pc=node.pc + 1)]

    def _edges(self, node: Node) -> Edges:
        instruction = self.flow(node)
        inner = node.loops[:-1]
        stay: Node | None = node._replace(pc=node.pc + 1)
        jump = self._jump(node, instruction)
        if instruction.operation in BEGINS:
            loop = Loop(instruction.operation, node.pc, node.returns)
            deep = len(node.loops) >= (LOOP_STACK if self._full else 0)
            stay = None if deep else node._replace(pc=node.pc + 1, loops=(*node.loops, loop))
        elif instruction.operation in ENDS:
            stay = node._replace(pc=node.pc + 1, loops=inner)
        elif instruction.operation in BREAKS and jump is not None:
            jump = jump._replace(loops=inner)
        return Edges(jump, stay, *_paths(instruction))

    def _jump(self, node: Node, instruction: Flow) -> Node | None:
        if instruction.address_operation is AddressOperation.PUSH:
            if len(node.returns) >= (ADDRESS_STACK if self._full else 0):
                return None
            return node._replace(pc=instruction.target, returns=(*node.returns, node.pc + 1))
        if instruction.address_operation is AddressOperation.POP:
            return node._replace(pc=node.returns[-1], returns=node.returns[:-1]) if node.returns else None
        return node._replace(pc=instruction.target)


def _paths(instruction: Flow) -> tuple[bool, bool]:
    """Whether wavefronts may jump, and whether they may stay.

    With JUMP_ANY a wavefront jumps if a lane wishes it, else if no lane does not: also a wavefront of which no lane
    decides. Where lanes leave loops both are possible, and where a loop's count decides too.
    """
    operation, function = instruction.operation, instruction.jump_function
    if operation in BEGINS or operation in BREAKS or operation is FlowOperation.CONTINUE:
        return True, True
    if function == NEVER and instruction.jump_any:
        return False, True
    return True, not (function == ALWAYS and not instruction.jump_any and operation not in ENDS)

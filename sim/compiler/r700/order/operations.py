"""The operations of an ALU clause as a graph: which results they read, whatever registers LLVM chose for them."""

from dataclasses import dataclass, field
from typing import NamedTuple

from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r700.operations import Operation
from ctm.sim.elf.lines import Line

Component = int
"""A component of a register: CHANNELS times its number, and the component."""


def component_of(register: int, channel: int) -> Component:
    """The component of a register."""
    return CHANNELS * register + channel


class Entry(NamedTuple):
    """What a register's component holds where the clause begins."""

    component: Component


class Constant(NamedTuple):
    """An operand that its instruction names: a row of constants, a number, or a literal by its word."""

    select: int
    channel: int
    literal: int | None = None


@dataclass(eq=False)
class Node:
    """An operation, or the four of a reduction.

    `members` are the fields of its instructions, `reads` the operands of each. `final` is the component that has its
    result at the end of the clause, if one has. `is_effect`: it does something beside its result. `ends`: it is after
    all others, as fewer pixels continue.
    """

    operation: Operation
    members: list[dict[str, int]]
    reads: list[list["Value"]]
    line: Line | None
    is_effect: bool = False
    ends: bool = False
    final: Component | None = None
    before: set["Node"] = field(default_factory=set)
    """Those that read what its result overwrites: it may be in their group, not in front of it."""
    after: set["Node"] = field(default_factory=set)
    """Those that it follows for another reason than reading their results."""

    @property
    def values(self) -> list["Node | Entry"]:
        """What it reads that some register holds, each once."""
        return list(dict.fromkeys(value for reads in self.reads for value in reads if not isinstance(value, Constant)))

    @property
    def sources(self) -> list["Node"]:
        """Operations whose results it reads."""
        return [value for reads in self.reads for value in reads if isinstance(value, Node)]

    @property
    def entries(self) -> list[Entry]:
        """What it reads of that which registers held before."""
        return [value for reads in self.reads for value in reads if isinstance(value, Entry)]


Value = Node | Entry | Constant


class FixedError(Exception):
    """A clause that has to remain as it is."""


@dataclass
class Lifted:
    """The operations of a clause in their order.

    `held` are the components that no other operation may overwrite, `readers` the operations that read a component of a
    register itself. `copies` are operations that copy a result to where it is read after the clause.
    """

    nodes: list[Node]
    held: frozenset[Component]
    readers: dict[Component, list[Node]]
    copies: list[tuple[Node, Node]] = field(default_factory=list)

    def without_the_unneeded(self) -> "Lifted":
        """Without dead code: what has an effect or a result that is read after the clause, and what that needs."""
        needed: set[Node] = set()
        waiting = [node for node in self.nodes if node.is_effect or node.final is not None]
        while waiting:
            node = waiting.pop()
            if node not in needed:
                needed.add(node)
                waiting += node.sources
        for node in needed:
            node.before &= needed
            node.after &= needed
        self.nodes = [node for node in self.nodes if node in needed]
        self.copies = [(copy, node) for copy, node in self.copies if copy in needed]
        return self

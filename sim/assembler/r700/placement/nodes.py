"""A program before its layout: CF instructions in their order, each with the clause that it starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ctm.rtl.isa.r700.control_flow import AluClause, CfOperation
from ctm.sim.assembler.error import Position
from ctm.sim.assembler.r700.form import CLAUSE, CONTROL, Draft
from ctm.sim.assembler.r700.parser.control import starts_fetch
from ctm.sim.assembler.r700.syntax import Fetch, Group, Overrides
from ctm.sim.assembler.tokens import Token


@dataclass(eq=False)
class Mark:
    """A position between nodes: that of the next node, once there is one."""

    node: Node | None = None


@dataclass(eq=False)
class Node:
    """A CF instruction.

    `target`: where it goes, as a mark or as the text has it. `groups` or `fetches`: the clause that it starts. `words`
    are the words that it becomes if its clause is split, itself if it is not.
    """

    position: Position
    draft: Draft
    target: Mark | Token | None = None
    groups: list[Group] = field(default_factory=list)
    fetches: list[Fetch] = field(default_factory=list)
    overrides: Overrides = ()
    words: list[Node] = field(default_factory=list)
    chosen: bool = False
    """Whether the assembler chose which kind of fetch clause it is."""

    @property
    def is_alu(self) -> bool:
        """Whether it starts an ALU clause."""
        return self.draft.form is CLAUSE

    @property
    def is_fetch(self) -> bool:
        """Whether it starts a fetch clause."""
        return starts_fetch(self.draft)

    def split_off(self, *, groups: list[Group] | None = None, fetches: list[Fetch] | None = None) -> Node:
        """A word like this one, for some of its clause."""
        draft = Draft(self.draft.form, self.draft.words)
        return replace(self, draft=draft, groups=groups or [], fetches=fetches or [], words=[])


def control(
    position: Position,
    operation: CfOperation,
    target: Mark | Token | None = None,
    fields: Mapping[str, int] | None = None,
) -> Node:
    """A CF instruction that starts no ALU clause and is no export."""
    draft = Draft(CONTROL)
    draft.write(cf_inst=operation.value, barrier=1, **(fields or {}))
    return Node(position, draft, target)


def alu(position: Position) -> Node:
    """A word that starts an ALU clause."""
    draft = Draft(CLAUSE)
    draft.write(cf_inst=AluClause.ALU.value, barrier=1)
    return Node(position, draft)

"""Fits structured flow control together: targets, the levels that a BREAK leaves, the else of an IF.

CTM Guide pp. 38-40. Every statement pops or jumps by the order of steps in docs/design/choices.md:

* an IF that jumps touches no counter if there is no ELSE, so its target is after the ENDIF; with an ELSE it counts on
  both paths (B_OP1 is INCR), because the ELSE swaps active and waiting pixels and the ENDIF takes the level away;
* BREAK and CONTINUE jump only when no pixel of the loop is left, and then take away the levels that were entered
  inside the loop; while one is left they change nothing, because the ENDIFs still come.
"""

from dataclasses import dataclass, field

from ctm.rtl.isa.r5xx.opcodes import BranchOperation, FlowOperation
from ctm.sim.assembler.error import SourceError
from ctm.sim.assembler.r5xx.parser.flow import Flow, Statement

_LOOPS = {Statement.LOOP: Statement.ENDLOOP, Statement.REP: Statement.ENDREP}
_OPENERS = {Statement.ENDLOOP: Statement.LOOP, Statement.ENDREP: Statement.REP}


@dataclass
class _Block:
    """An open IF, LOOP or REP."""

    flow: Flow
    slot: int
    other: Flow | None = None
    """The ELSE of an IF."""
    other_slot: int = 0
    exits: list[Flow] = field(default_factory=list)
    """The BREAKs and CONTINUEs of a loop."""


class Structure:
    """Follows the statements of a program in order; `targets` are the slots that they aim at where none was written."""

    def __init__(self) -> None:
        self.targets: list[tuple[Flow, int]] = []
        self.deepest = 0
        """Most branches inside each other."""
        self._open: list[_Block] = []

    def add(self, flow: Flow, slot: int) -> None:
        """Take the statement in `slot`.

        Raises
        ------
        SourceError
            It does not fit what is open here.
        """
        statement = flow.statement
        if statement is Statement.IF or statement in _LOOPS:
            self._open.append(_Block(flow, slot))
            self.deepest = max(self.deepest, sum(block.flow.statement is Statement.IF for block in self._open))
        elif statement is Statement.ELSE:
            self._else(flow, slot)
        elif statement is Statement.ENDIF:
            self._end_if(flow, slot)
        elif statement in _OPENERS:
            self._end_loop(flow, slot)
        elif statement in (Statement.BREAK, Statement.CONTINUE):
            self._exit(flow)

    def finish(self) -> None:
        """Check that nothing is open.

        Raises
        ------
        SourceError
            At the statement that was not ended.
        """
        if self._open:
            flow = self._open[-1].flow
            end = "ENDIF" if flow.statement is Statement.IF else _LOOPS[flow.statement].name
            raise SourceError(f"this {flow.statement.name} has no {end}", flow.position)

    def _aim(self, flow: Flow, slot: int) -> None:
        if flow.target is None:
            self.targets.append((flow, slot))

    def _innermost(self, wanted: Statement, flow: Flow) -> _Block:
        if not self._open or self._open[-1].flow.statement is not wanted:
            inside = f" inside the {self._open[-1].flow.statement.name} above" if self._open else ""
            raise SourceError(f"{flow.statement.name} without {wanted.name}{inside}", flow.position)
        return self._open[-1]

    def _else(self, flow: Flow, slot: int) -> None:
        block = self._innermost(Statement.IF, flow)
        if block.other is not None:
            raise SourceError("a second ELSE for one IF", flow.position)
        block.other, block.other_slot = flow, slot

    def _end_if(self, flow: Flow, slot: int) -> None:
        block = self._innermost(Statement.IF, flow)
        self._open.pop()
        self._aim(flow, slot + 1)
        if block.other is None:
            self._aim(block.flow, slot + 1)
        else:
            block.flow.draft.set("fc_inst", b_op1=BranchOperation.INCR.value)
            self._aim(block.flow, block.other_slot + 1)
            self._aim(block.other, slot + 1)

    def _end_loop(self, flow: Flow, slot: int) -> None:
        block = self._innermost(_OPENERS[flow.statement], flow)
        self._open.pop()
        flow.draft.set("fc_addr", int_addr=block.flow.draft.get("fc_addr")["int_addr"])
        self._aim(flow, block.slot + 1)
        self._aim(block.flow, slot + 1)
        for leaving in block.exits:
            self._aim(leaving, slot + 1 if leaving.statement is Statement.BREAK else slot)

    def _exit(self, flow: Flow) -> None:
        levels = 0
        for block in reversed(self._open):
            if block.flow.statement in _LOOPS:
                break
            levels += 1
        else:
            raise SourceError(f"{flow.statement.name} outside of a loop", flow.position)
        block.exits.append(flow)
        if levels:
            flow.draft.set("fc_inst", b_op1=BranchOperation.DECR.value, b_pop_cnt=levels)
        if flow.statement is Statement.BREAK and block.flow.statement is Statement.REP:
            flow.draft.set("fc_inst", op=FlowOperation.BREAKREP.value)

"""Finds the structure of a program's flow control, if it has one."""

from collections.abc import Sequence
from dataclasses import dataclass

from ctm.rtl.isa.r5xx.opcodes import InstructionType
from ctm.sim.assembler.error import Position, SourceError
from ctm.sim.assembler.r5xx.draft import Draft
from ctm.sim.assembler.r5xx.parser.flow import Flow, Statement
from ctm.sim.assembler.r5xx.printer.flow import statement_of, structured_text
from ctm.sim.assembler.r5xx.printer.instruction import flags_text, parse_text
from ctm.sim.assembler.r5xx.structure import Structure


@dataclass(frozen=True)
class Nested:
    """A structured statement. `has_target`: its text needs the target, which the structure does not give."""

    draft: Draft
    statement: Statement
    has_target: bool

    def text(self, target: str) -> str:
        """The statement with its flags."""
        words = structured_text(self.draft, self.statement, target)
        explicit = f" -> {target}" if self.has_target and self.statement is not Statement.CALL else ""
        return f"{words}{explicit}{flags_text(self.draft)}"


def nest(drafts: Sequence[Draft], offset: int) -> dict[int, Nested] | None:
    """The structured statements by slot, those that are raw left out; None if the program has no clean structure."""
    flows: dict[int, Flow] = {}
    structure = Structure()
    try:
        for slot, draft in enumerate(drafts):
            flow = _flow(draft)
            if flow is not None:
                flows[slot] = flow
                structure.add(flow, slot)
        structure.finish()
    except SourceError:
        return None
    targets = {id(flow): slot - offset for flow, slot in structure.targets}
    nested: dict[int, Nested] = {}
    for slot, flow in flows.items():
        address = drafts[slot].get("fc_addr")["jump_addr"]
        flow.draft.set("fc_addr", jump_addr=address)
        if flow.draft.words != drafts[slot].words:
            return None
        fits = targets.get(id(flow), 0 if flow.statement is Statement.RET else None) == address
        nested[slot] = Nested(drafts[slot], flow.statement, has_target=not fits)
    return nested


def _flow(draft: Draft) -> Flow | None:
    """The statement that an instruction looks like, as the parser reads it back."""
    if draft.kind is not InstructionType.FC:
        return None
    statement = statement_of(draft)
    if statement is Statement.RAW:
        return None
    target = str(draft.get("fc_addr")["jump_addr"])
    item = parse_text(f"{structured_text(draft, statement, target)}{flags_text(draft)}", uncached_writes=False)
    if item is None or item.flow is None:
        raise SourceError("no statement of the language", Position(1, 1))
    return item.flow

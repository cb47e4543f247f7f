"""From statements to CF instructions: clauses where they stand, and structured control flow as compilers write it.

| statement | words |
|---|---|
| IF | ALU_PUSH_BEFORE with the condition, JUMP to the ELSE or, with POP_CNT 1, after the ENDIF |
| ELSE | ELSE with POP_CNT 1, to after the ENDIF |
| ENDIF | the ALU clause in front becomes ALU_POP_AFTER; if there is none, POP with POP_CNT 1 |
| IF with a boolean constant | JUMP with that condition; ELSE a JUMP for all; nothing is pushed |
| LOOP, REP | LOOP_START_DX10, with a constant LOOP_START, LOOP_START_NO_AL, to after the ENDLOOP |
| ENDLOOP | LOOP_END, to after the LOOP |
| BREAK, CONTINUE | LOOP_BREAK, LOOP_CONTINUE, to the ENDLOOP; with a condition inside an IF |
| CALL | CALL with CALL_COUNT 1 |
| ENDSUB | RETURN |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ctm.rtl.isa.r700.control_flow import WITHOUT_TARGET, AluClause, CfOperation, Condition
from ctm.sim.assembler.error import Position, SourceError
from ctm.sim.assembler.r700.form import CONTROL, VERTEX
from ctm.sim.assembler.r700.names import name_of
from ctm.sim.assembler.r700.parser.control import AIMLESS, COUNT
from ctm.sim.assembler.r700.parser.source import Source
from ctm.sim.assembler.r700.placement.nodes import Mark, Node, alu, control
from ctm.sim.assembler.r700.syntax import Fetch, Group, Item, Keyword, Pack, Statement, Unit, Word
from ctm.sim.assembler.tokens import Token

_POP = {"pop_count": 1}
_LOOPS = {Keyword.LOOP: CfOperation.LOOP_START, Keyword.REP: CfOperation.LOOP_START_NO_AL}
_LEAVES = {Keyword.BREAK: CfOperation.LOOP_BREAK, Keyword.CONTINUE: CfOperation.LOOP_CONTINUE}
_ENDS = {Keyword.IF: Keyword.ENDIF, Keyword.LOOP: Keyword.ENDLOOP, Keyword.SUB: Keyword.ENDSUB}
_CAN_END = {operation.value for operation in WITHOUT_TARGET if operation is not CfOperation.RETURN}
"""Words that go to the next one whatever happens, so that the program can end with them."""


@dataclass
class _Frame:
    """A block that is open. `uniform`: an IF by a boolean constant, which pushes nothing."""

    keyword: Keyword
    position: Position
    uniform: bool = False
    jump: Node | None = None
    has_else: bool = False
    begin: Mark = field(default_factory=Mark)
    end: Mark = field(default_factory=Mark)
    """The LOOP_END word."""
    after: Mark = field(default_factory=Mark)


class Structure:
    """Takes statements one after the other; `finish` gives the words, `labels` has the labels."""

    def __init__(self) -> None:
        self.labels: dict[str, Mark] = {}
        self._nodes: list[Node] = []
        self._main: list[Node] = self._nodes
        self._after_end: list[Node] = []
        self._marks: list[Mark] = []
        self._open: Node | None = None
        self._frames: list[_Frame] = []
        self._names: dict[str, Mark] = {}
        self._calls: list[tuple[Node, Token]] = []
        self._kept: list[Mark] = []
        self._steps: Mapping[Keyword, Callable[[Statement], None]] = {
            Keyword.IF: self._if,
            Keyword.ELSE: self._else,
            Keyword.ENDIF: self._endif,
            Keyword.LOOP: self._loop,
            Keyword.REP: self._loop,
            Keyword.ENDLOOP: self._endloop,
            Keyword.BREAK: self._leave,
            Keyword.CONTINUE: self._leave,
            Keyword.CALL: self._call,
            Keyword.SUB: self._sub,
            Keyword.ENDSUB: self._endsub,
        }

    def label(self, name: str) -> None:
        """Define a label: the next word, so the next clause begins there."""
        self._open = None
        self._marks.append(self.labels.setdefault(name, Mark()))

    def add(self, item: Item) -> None:
        """Take in a statement."""
        if isinstance(item, Group):
            self._clause(item.position).groups.append(item)
        elif isinstance(item, Pack):
            self._clause(item.position).groups.extend(item.groups)
        elif isinstance(item, Fetch):
            self._fetch(item)
        elif isinstance(item, Word):
            self._word(item)
        elif isinstance(item, Unit):
            raise SourceError(".unit needs .manual, which lays out everything as it is written", item.position)
        else:
            self._steps[item.keyword](item)

    def finish(self) -> list[Node]:
        """All CF instructions: the program, which ends with its last word, then its subroutines."""
        if self._frames:
            frame = self._frames[-1]
            message = f"this {frame.keyword.name} has no {_ENDS[frame.keyword].name}"
            raise SourceError(message, frame.position)
        if not self._main:
            raise SourceError("there are no instructions", Position(1, 1))
        for node, name in self._calls:
            if name.text not in self._names:
                raise SourceError(f"there is no subroutine {name.text}", name.position)
            node.target = self._names[name.text]
        self._end()
        for node in (*self._main, *self._after_end):
            if (node.is_alu and not node.groups) or (node.is_fetch and not node.fetches):
                raise SourceError("this word has no clause: write its instructions below it", node.position)
        return self._main + self._after_end

    def _end(self) -> None:
        """The last word ends the program, if it can: one that may jump and an ALU clause cannot."""
        last = self._main[-1]
        jumps = last.is_alu or (last.draft.form is CONTROL and last.draft.get("cf_inst") not in _CAN_END)
        if self._marks or jumps:
            self._emit(control(last.position, CfOperation.NOP))
        self._main[-1].draft.set("end_of_program", 1)

    def _emit(self, node: Node) -> Node:
        self._nodes.append(node)
        for mark in self._marks:
            mark.node = node
        self._marks = []
        self._open = None
        return node

    def _clause(self, position: Position) -> Node:
        """The ALU clause that groups are added to."""
        if self._open is None or not self._open.is_alu:
            self._open = self._emit(alu(position))
        return self._open

    def _fetch(self, item: Fetch) -> None:
        if self._open is None or not self._open.is_fetch:
            code = CfOperation.VTX if item.draft.form is VERTEX else CfOperation.TEX
            self._open = self._emit(control(item.position, code))
            self._open.chosen = True
        node = self._open
        if node.chosen and item.draft.form is not VERTEX:
            node.draft.set("cf_inst", CfOperation.TEX.value)
        node.fetches.append(item)

    def _word(self, word: Word) -> None:
        node = Node(word.position, word.draft, word.target, overrides=word.overrides)
        if node.is_alu or node.is_fetch:
            if word.target is not None:
                message = "a clause has an address only with .manual: write its instructions below this word"
                raise SourceError(message, word.position)
            if COUNT in word.written:
                raise SourceError("a clause is counted, but with .manual: leave CNT out", word.position)
            self._open = self._emit(node)
            return
        if node.draft.form is CONTROL and word.target is None and node.draft.get("cf_inst") not in AIMLESS:
            name = name_of(CONTROL, node.draft.get("cf_inst"))
            raise SourceError(f"{name} needs a target, as in ADDR(label)", word.position)
        is_return = word.draft.form is CONTROL and word.draft.get("cf_inst") == CfOperation.RETURN.value
        pushed = [frame for frame in self._frames if frame.keyword is not Keyword.SUB and not frame.uniform]
        if is_return and pushed:
            message = f"RETURN inside {pushed[-1].keyword.name}: it would find that block's entry on the stack"
            raise SourceError(message, word.position)
        self._emit(node)

    def _if(self, statement: Statement) -> None:
        frame = _Frame(Keyword.IF, statement.position, uniform=statement.constant is not None)
        if not frame.uniform:
            self._push(statement)
        frame.jump = self._emit(control(statement.position, CfOperation.JUMP, fields=_test(statement)))
        self._frames.append(frame)

    def _push(self, statement: Statement) -> None:
        """The clause with the condition, which pushes."""
        if statement.condition is not None:
            is_free = self._open is not None and self._open.is_alu and not _updates(self._open)
            if not is_free or self._clause(statement.position).draft.get("cf_inst") != AluClause.ALU.value:
                self._open = None
            node = self._clause(statement.position)
            node.groups.append(statement.condition)
        elif self._open is None or not self._open.is_alu or not _updates(self._open):
            message = "the ALU clause in front sets no execute mask: write the condition, as in IF PRED_SETGT R0.x, 0"
            raise SourceError(message, statement.position)
        else:
            node = self._open
        if node.draft.get("cf_inst") not in (AluClause.ALU.value, AluClause.ALU_PUSH_BEFORE.value):
            raise SourceError("the ALU clause in front does something else than to push", statement.position)
        node.draft.set("cf_inst", AluClause.ALU_PUSH_BEFORE.value)

    def _else(self, statement: Statement) -> None:
        frame = self._frame(statement, Keyword.IF)
        if frame.has_else:
            raise SourceError("a second ELSE for one IF", statement.position)
        frame.has_else = True
        assert frame.jump is not None
        frame.jump.target = mark = Mark()
        if frame.uniform:
            self._emit(control(statement.position, CfOperation.JUMP, frame.after, {"cond": Condition.FALSE.value}))
            self._marks.append(mark)
        else:
            mark.node = self._emit(control(statement.position, CfOperation.ELSE, frame.after, _POP))

    def _endif(self, statement: Statement) -> None:
        frame = self._frame(statement, Keyword.IF)
        assert frame.jump is not None
        if not frame.has_else:
            frame.jump.target = frame.after
        if not frame.uniform:
            if not frame.has_else:
                frame.jump.draft.set("pop_count", 1)
            self._pop(statement, frame)
        self._frames.pop()
        self._open = None
        self._marks.append(frame.after)

    def _pop(self, statement: Statement, frame: _Frame) -> None:
        last = self._nodes[-1]
        is_plain = last.is_alu and last.draft.get("cf_inst") == AluClause.ALU.value and not last.overrides
        if is_plain and not self._marks:
            last.draft.set("cf_inst", AluClause.ALU_POP_AFTER.value)
        else:
            self._emit(control(statement.position, CfOperation.POP, frame.after, _POP))

    def _loop(self, statement: Statement) -> None:
        frame = _Frame(Keyword.LOOP, statement.position)
        operation = CfOperation.LOOP_START_DX10 if statement.constant is None else _LOOPS[statement.keyword]
        constant = statement.constant or 0
        self._emit(control(statement.position, operation, frame.after, {"cf_const": constant}))
        self._marks.append(frame.begin)
        self._frames.append(frame)

    def _endloop(self, statement: Statement) -> None:
        frame = self._frame(statement, Keyword.LOOP)
        frame.end.node = self._emit(control(statement.position, CfOperation.LOOP_END, frame.begin))
        self._frames.pop()
        self._marks.append(frame.after)

    def _leave(self, statement: Statement) -> None:
        loops = [frame for frame in self._frames if frame.keyword is Keyword.LOOP]
        if not loops:
            raise SourceError(f"{statement.keyword.name} outside of a loop", statement.position)
        inside = statement.condition is not None
        if inside:
            self._if(Statement(statement.position, Keyword.IF, statement.condition))
        operation = _LEAVES[statement.keyword]
        self._emit(control(statement.position, operation, loops[-1].end, _test(statement)))
        if inside:
            self._endif(Statement(statement.position, Keyword.ENDIF))

    def _call(self, statement: Statement) -> None:
        assert statement.name is not None
        node = self._emit(control(statement.position, CfOperation.CALL, fields={"call_count": 1}))
        self._calls.append((node, statement.name))

    def _sub(self, statement: Statement) -> None:
        assert statement.name is not None
        if self._frames:
            raise SourceError(f"SUB inside {self._frames[-1].keyword.name}", statement.position)
        if statement.name.text in self._names:
            raise SourceError(f"the subroutine {statement.name.text} was defined before", statement.name.position)
        self._frames.append(_Frame(Keyword.SUB, statement.position))
        self._kept = self._marks
        self._nodes, self._marks, self._open = self._after_end, [], None
        mark = self._names[statement.name.text] = Mark()
        self._marks.append(mark)

    def _endsub(self, statement: Statement) -> None:
        self._frame(statement, Keyword.SUB)
        self._frames.pop()
        self._emit(control(statement.position, CfOperation.RETURN))
        self._nodes, self._marks = self._main, self._kept

    def _frame(self, statement: Statement, keyword: Keyword) -> _Frame:
        """The block that a statement belongs to, which must be the innermost one."""
        name = statement.keyword.name
        if not self._frames:
            raise SourceError(f"{name} without {keyword.name}", statement.position)
        frame = self._frames[-1]
        if frame.keyword is not keyword:
            raise SourceError(
                f"{name} without {keyword.name} inside the {frame.keyword.name} above", statement.position
            )
        return frame


def _test(statement: Statement) -> dict[str, int]:
    """The fields of a word that looks at a boolean constant, none if there is none."""
    if statement.constant is None:
        return {}
    condition = Condition.NOT_BOOL if statement.inverted else Condition.BOOL
    return {"cond": condition.value, "cf_const": statement.constant}


def _updates(node: Node) -> bool:
    """Whether a clause sets the execute mask."""
    return any(instruction.update_execute_mask for group in node.groups for instruction in group.instructions)


def structure(source: Source) -> tuple[list[Node], Mapping[str, Mark]]:
    """The CF instructions of a text, and the positions of its labels."""
    found = Structure()
    at: dict[int, list[str]] = {}
    for name, number in source.labels.items():
        at.setdefault(number, []).append(name)
    for number, item in enumerate(source.items):
        for name in at.get(number, ()):
            found.label(name)
        found.add(item)
    for name in at.get(len(source.items), ()):
        found.label(name)
    return found.finish(), found.labels

"""Directives: what a program says of itself besides its code."""

from dataclasses import dataclass, field

from ctm.rtl.isa.r700.limits import FIRST_CLAUSE_TEMPORARY, LDS_BANK_DWORDS, LDS_ROW, STACK_ENTRIES
from ctm.rtl.isa.r700.pipeline import PIPELINE_INFORMATION, DrawStage
from ctm.rtl.isa.r700.program import ProgramType
from ctm.sim.assembler.cursor import Cursor
from ctm.sim.assembler.r700.names import lower
from ctm.sim.assembler.r700.parser.control import parse_target
from ctm.sim.assembler.tokens import Token

_FLAGS = ("dx10_clamp", "depth", "memory", "scratch")
_NUMBERS = {
    "gprs": range(1, FIRST_CLAUSE_TEMPORARY + 1),
    "stack": range(STACK_ENTRIES + 1),
    "texture_base": range(1 << 32),
    "lds": range(0, LDS_BANK_DWORDS + 1, LDS_ROW),
}
_ISA, _TYPE, _START, _MANUAL, _STAGE, _PIPELINE = "isa", "type", "start", "manual", "stage", "pipeline"
DIRECTIVES = tuple(f".{name}" for name in (*_FLAGS, *_NUMBERS, _ISA, _TYPE, _START, _MANUAL, _STAGE, _PIPELINE))
"""Those that may stand anywhere, once."""


@dataclass
class Directives:
    """What the directives of a text said."""

    flags: set[str] = field(default_factory=set)
    numbers: dict[str, int] = field(default_factory=dict)
    type: ProgramType = ProgramType.PS
    start: Token | None = None
    manual: bool = False
    stage: DrawStage | None = None
    """Of a program of a draw, which it is."""
    pipeline: dict[str, int] = field(default_factory=dict)
    """Of a whole draw, the words of its pipeline note by name."""
    written: set[str] = field(default_factory=set)

    def parse(self, cursor: Cursor) -> None:
        """Take in one directive.

        Raises
        ------
        SourceError
            It is unknown, was written before or has a wrong value.
        """
        position, name = cursor.position, cursor.take().text.lower().removeprefix(".")
        if name in self.written and name != _PIPELINE:
            cursor.fail_at(f".{name} was written before", position)
        self.written.add(name)
        if name in _FLAGS:
            self.flags.add(name)
        elif name in _NUMBERS:
            self.numbers[name] = _number(cursor, name)
        elif name == _TYPE:
            self.type = ProgramType(cursor.choose(lower(ProgramType), "a program type"))
        elif name == _START:
            self.start = parse_target(cursor)
        elif name == _MANUAL:
            self.manual = True
        elif name == _PIPELINE:
            word = cursor.choose({key.lower(): key for key in PIPELINE_INFORMATION}, "a word of the pipeline note")
            self.pipeline[word] = cursor.integer("the word", 1 << 32)
        elif name == _STAGE:
            self.stage = cursor.choose({stage.name.lower(): stage for stage in DrawStage}, "a stage of a draw")
        elif name == _ISA:
            cursor.choose({PROGRAM_NAME: 0}, "the instruction set of this language")
        else:
            cursor.fail_at(f"there is no directive .{name}; there are: {', '.join(DIRECTIVES)}", position)
        cursor.expect_end()

    def flag(self, name: str) -> bool:
        """Whether a flag of the program information is set."""
        return name in self.flags


PROGRAM_NAME = "r700"


def _number(cursor: Cursor, name: str) -> int:
    allowed, position = _NUMBERS[name], cursor.position
    value = cursor.integer(f"the value of .{name}", 1 << 32)
    if value not in allowed:
        step = "" if allowed.step == 1 else f", a multiple of {allowed.step}"
        cursor.fail_at(f".{name} is {allowed.start} to {allowed[-1]}{step}", position)
    return value

"""Directives: what a program says of itself besides its instructions; CTM Guide pp. 45-49."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ctm.rtl.isa.limits import FLOAT_CONSTANTS, INPUTS, INT_CONSTANTS, OUTPUTS, TEMPORARIES
from ctm.rtl.isa.r5xx.limits import INSTRUCTION_SLOTS
from ctm.rtl.isa.r5xx.program import FG_DEPTH_SRC, US_CONFIG, US_FC_CTRL
from ctm.rtl.isa.word import pack
from ctm.sim.assembler.cursor import Cursor
from ctm.sim.assembler.r5xx.parser.constants import Constants
from ctm.sim.assembler.tokens import Kind, Token
from ctm.sim.elf.r5xx.executable import Executable, Instruction
from ctm.sim.elf.r5xx.notes import derive_notes
from ctm.sim.elf.r5xx.registers import Registers
from ctm.sim.elf.r5xx.usage import usage

_WORD = 1 << 32
_LISTS = {
    ".inputs": ("inputs", INPUTS),
    ".outputs": ("outputs", OUTPUTS),
    ".float_constants": ("float_constants", FLOAT_CONSTANTS),
    ".int_constants": ("int_constants", INT_CONSTANTS),
}
_FLAGS = {".conditional_output": "conditional_output", ".early_exit": "early_exit"}
_NOTES = {**_FLAGS, **{name: what for name, (what, _) in _LISTS.items()}}
_WORDS = {
    ".us_config": _WORD,
    ".us_fc_ctrl": _WORD,
    ".fg_depth_src": _WORD,
    ".us_w_fmt": _WORD,
    ".offset": INSTRUCTION_SLOTS,
    ".highest_temporary": TEMPORARIES,
}
_SWITCHES = (".manual", ".uncached_writes", ".zero_times_anything")
_ADDRESSES = (".start", ".end")
_ISA = ".isa"
_FLOW_CONTROL = ".flow_control"
_CONSTANT = ".constant"
_MODES = {"full": 1, "partial": 0}
DIRECTIVES = (*_SWITCHES, *_WORDS, _ISA, _FLOW_CONTROL, _CONSTANT, *_ADDRESSES, *_NOTES)
"""Every directive but `.equ` and `.word`."""


@dataclass
class Directives:
    """What the directives of a text said, by directive; what was not said is found out from the code."""

    numbers: dict[str, int] = field(default_factory=dict)
    switches: set[str] = field(default_factory=set)
    addresses: dict[str, Token] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)
    constants: Constants = field(default_factory=Constants)

    @property
    def manual(self) -> bool:
        """Whether no bit is set automatically."""
        return ".manual" in self.switches

    @property
    def uncached_writes(self) -> bool:
        """Whether this is a UMRT program."""
        return ".uncached_writes" in self.switches

    @property
    def offset(self) -> int:
        """US_CODE_OFFSET."""
        return self.numbers.get(".offset", 0)

    def parse(self, cursor: Cursor) -> None:
        """Take in one directive.

        Raises
        ------
        SourceError
            It is unknown, was written before or has a wrong value.
        """
        position, name = cursor.position, cursor.take().text.lower()
        if name in self.switches or name in self.numbers or name in self.addresses or name in self.notes:
            cursor.fail_at(f"{name} was written before", position)
        if name in _SWITCHES:
            self.switches.add(name)
        elif name in _WORDS:
            self.numbers[name] = cursor.integer(f"the value of {name}", _WORDS[name])
        elif name == _ISA:
            cursor.choose({Executable.kind: None}, "the instruction set of this language")
        elif name == _CONSTANT:
            self.constants.parse(cursor)
        elif name == _FLOW_CONTROL:
            self.numbers[name] = cursor.choose(_MODES, "full or partial")
        elif name in _ADDRESSES:
            cursor.expand_alias()
            if cursor.token.kind not in (Kind.NAME, Kind.NUMBER):
                cursor.fail(f"expected a label or a number, not {cursor.described()}")
            self.addresses[name] = cursor.take()
        elif name in _NOTES:
            self.notes[name] = _note(cursor, name)
        else:
            cursor.fail_at(f"there is no directive {name}", position)

    def executable(self, code: Sequence[Instruction], *, start: int, end: int, needs_full: bool) -> Executable:
        """The executable of a program that starts and ends at these addresses.

        `needs_full`: its flow control does not fit the partial mode.
        """
        notes = derive_notes(code, uncached_writes=self.uncached_writes)
        said = {_NOTES[name]: value for name, value in self.notes.items()}
        return Executable(
            instructions=tuple(code),
            start=start,
            end=end,
            offset=self.offset,
            highest_temporary=self.numbers.get(".highest_temporary", _highest_temporary(code)),
            fg_depth_src=self.numbers.get(".fg_depth_src", pack(FG_DEPTH_SRC, from_program=notes.conditional_output)),
            us_config=self.numbers.get(".us_config", 0)
            | pack(US_CONFIG, zero_times_anything=".zero_times_anything" in self.switches),
            us_fc_ctrl=self._flow_control(needs_full),
            us_w_fmt=self.numbers.get(".us_w_fmt", 0),
            uncached_writes=self.uncached_writes,
            notes=replace(notes, **said),
            own_constants=self.constants.own,
        )

    def _flow_control(self, needs_full: bool) -> int:
        word = self.numbers.get(".us_fc_ctrl")
        if word is not None and _FLOW_CONTROL not in self.numbers:
            return word
        return (word or 0) | pack(US_FC_CTRL, full_fc_en=self.numbers.get(_FLOW_CONTROL, needs_full))


def _note(cursor: Cursor, name: str) -> bool | tuple[int, ...]:
    if name in _LISTS:
        return _indices(cursor, *_LISTS[name])
    return cursor.choose({"on": True, "off": False}, "on or off")


def _indices(cursor: Cursor, what: str, limit: int) -> tuple[int, ...]:
    """`0, 3, 5`, or `none`."""
    if cursor.accept("none"):
        return ()
    found = [cursor.integer(f"an index of {what}", limit)]
    while cursor.accept(","):
        found.append(cursor.integer(f"an index of {what}", limit))
    return tuple(found)


def _highest_temporary(code: Sequence[Instruction]) -> int:
    """The highest temporary that is used; one relative to aL may be any."""
    used = Registers()
    for words in code:
        use = usage(words)
        used |= use.reads | use.writes
    return TEMPORARIES - 1 if used.relative else max(used.direct, default=0)

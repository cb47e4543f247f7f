"""Writes a program as text that assembles to the same bytes; docs/assembler.md describes the language."""

from dataclasses import dataclass, field

from ctm.rtl.isa.r5xx.opcodes import AddressOperation, InstructionType, JumpFunction
from ctm.rtl.isa.r5xx.program import FG_DEPTH_SRC, US_CONFIG, US_FC_CTRL
from ctm.rtl.isa.word import pack
from ctm.sim.assembler.origins import OriginWriter
from ctm.sim.assembler.r5xx.draft import Draft
from ctm.sim.assembler.r5xx.parser.flow import Statement
from ctm.sim.assembler.r5xx.printer.flow import raw_text
from ctm.sim.assembler.r5xx.printer.instruction import fit, instruction_text
from ctm.sim.assembler.r5xx.printer.nesting import Nested, nest
from ctm.sim.assembler.tokens import PARALLEL
from ctm.sim.elf.r5xx.executable import Executable
from ctm.sim.elf.r5xx.notes import derive_notes

_INDENT = "    "
_COMMENT_COLUMN = 92
_LONGEST = 110
_LISTS = ("inputs", "outputs", "float_constants", "int_constants")
_FLAGS = ("conditional_output", "early_exit")
_DEEPER = (Statement.IF, Statement.ELSE, Statement.LOOP, Statement.REP)
_SHALLOWER = (Statement.ELSE, Statement.ENDIF, Statement.ENDLOOP, Statement.ENDREP)


def disassemble(executable: Executable, *, sources: bool) -> str:
    """The program as text: directives, then one instruction a line with its slot in a comment.

    Every bit is written, none is left to be set automatically, so `assemble` gives an equal executable.
    """
    return _Listing(executable).text(OriginWriter(executable.lines, sources=sources))


def statements(executable: Executable) -> dict[int, str]:
    """The text of each instruction by its slot."""
    listing = _Listing(executable)
    return dict(enumerate(listing.instructions(listing.nesting())))


@dataclass
class _Listing:
    executable: Executable
    labels: set[int] = field(default_factory=set)

    def text(self, origins: OriginWriter) -> str:
        count, nested = len(self.executable.instructions), self.nesting()
        texts = self.instructions(nested)
        lines = [
            *_state(self.executable),
            *self._addresses(),
            *_notes(self.executable),
            *_constants(self.executable),
            *origins.head(),
            "",
        ]
        depth = 0
        for slot, text in enumerate(texts):
            statement = nested[slot].statement if nested is not None and slot in nested else Statement.RAW
            depth -= statement in _SHALLOWER
            if slot in self.labels:
                lines.append(f"{_label(slot)}:")
            lines += origins.before(slot)
            lines += _lines(f"{_INDENT * (depth + 1)}{text}", self._comment(slot))
            depth += statement in _DEEPER
        if count in self.labels:
            lines.append(f"{_label(count)}:")
        return "\n".join(lines) + "\n"

    def drafts(self) -> list[Draft]:
        return [Draft(InstructionType(words[0] & 3), words) for words in self.executable.instructions]

    def nesting(self) -> dict[int, Nested] | None:
        return nest(self.drafts(), self.executable.offset)

    def instructions(self, nested: dict[int, Nested] | None) -> list[str]:
        return [self._instruction(slot, draft, nested) for slot, draft in enumerate(self.drafts())]

    def _comment(self, slot: int) -> str:
        """The slot, and the line of the source that it comes from, if that is known."""
        source = self.executable.lines.units[slot] if self.executable.lines else None
        return f"{slot:<5}{source}" if source else str(slot)

    def _target(self, address: int, *, is_global: bool = False) -> str:
        """A label for an address, or the address where no slot has it."""
        slot = address + (0 if is_global else self.executable.offset)
        if slot > len(self.executable.instructions):
            return str(address)
        self.labels.add(slot)
        return _label(slot)

    def _instruction(self, slot: int, draft: Draft, nested: dict[int, Nested] | None) -> str:
        if draft.kind is not InstructionType.FC:
            return instruction_text(draft, uncached_writes=self.executable.uncached_writes)
        fields, inst = draft.get("fc_addr"), draft.get("fc_inst")
        is_global = bool(fields["jump_global"])
        if nested is not None and slot in nested:
            statement = nested[slot]
            target = self._target(fields["jump_addr"], is_global=is_global) if statement.has_target else ""
            return statement.text(target)
        is_aimless = inst["jump_func"] == JumpFunction.NEVER.value or inst["a_op"] == AddressOperation.POP.value
        if fields["jump_addr"] == 0 and is_aimless:
            return fit([raw_text(draft, "")], draft, uncached_writes=False)
        text = fit([raw_text(draft, str(fields["jump_addr"]))], draft, uncached_writes=False)
        target = self._target(fields["jump_addr"], is_global=is_global)
        return text.replace(f"-> {fields['jump_addr']}", f"-> {target}", 1)

    def _addresses(self) -> list[str]:
        executable = self.executable
        lines = [f".offset {executable.offset}"] if executable.offset else []
        last = len(executable.instructions) - 1 - executable.offset
        if executable.start:
            lines.append(f".start {self._target(executable.start)}")
        if executable.end != last:
            lines.append(f".end {self._target(executable.end)}")
        return lines


def _label(slot: int) -> str:
    return f"L{slot}"


def _lines(text: str, comment: str) -> list[str]:
    """One line with a comment, or two if it is long and has two halves."""
    if len(text) > _LONGEST and f" {PARALLEL} " in text:
        first, second = text.split(f" {PARALLEL} ", 1)
        margin = " " * (len(text) - len(text.lstrip()) + len(_INDENT))
        return [f"{first:<{_COMMENT_COLUMN}}; {comment}", f"{margin}{PARALLEL} {second}"]
    return [f"{text:<{_COMMENT_COLUMN}}; {comment}"]


def _state(executable: Executable) -> list[str]:
    """Directives for the state words, whether they are the default or not."""
    lines = [".manual"]
    if executable.uncached_writes:
        lines.append(".uncached_writes")
    if executable.us_config == pack(US_CONFIG, zero_times_anything=1):
        lines.append(".zero_times_anything")
    elif executable.us_config:
        lines.append(f".us_config 0x{executable.us_config:08x}")
    modes = {pack(US_FC_CTRL, full_fc_en=1): ".flow_control full", 0: ".flow_control partial"}
    lines.append(modes.get(executable.us_fc_ctrl, f".us_fc_ctrl 0x{executable.us_fc_ctrl:08x}"))
    derived = derive_notes(executable.instructions, uncached_writes=executable.uncached_writes)
    if executable.fg_depth_src != pack(FG_DEPTH_SRC, from_program=derived.conditional_output):
        lines.append(f".fg_depth_src 0x{executable.fg_depth_src:08x}")
    if executable.us_w_fmt:
        lines.append(f".us_w_fmt 0x{executable.us_w_fmt:08x}")
    lines.append(f".highest_temporary {executable.highest_temporary}")
    return lines


def _constants(executable: Executable) -> list[str]:
    """Directives for constants that the program brings along."""
    own = executable.own_constants
    floats = (
        f".constant c{index} = {', '.join(f'0x{word:08x}' for word in own.floats[index])}"
        for index in sorted(own.floats)
    )
    ints = (f".constant i{index} = 0x{own.ints[index]:x}" for index in sorted(own.ints))
    return [*floats, *ints]


def _notes(executable: Executable) -> list[str]:
    """Directives for notes that are not what the code says."""
    derived = derive_notes(executable.instructions, uncached_writes=executable.uncached_writes)
    lines = []
    for name in _LISTS:
        indices = getattr(executable.notes, name)
        if indices != getattr(derived, name):
            lines.append(f".{name} {', '.join(map(str, indices)) or 'none'}")
    for name in _FLAGS:
        value = getattr(executable.notes, name)
        if value != getattr(derived, name):
            lines.append(f".{name} {'on' if value else 'off'}")
    return lines

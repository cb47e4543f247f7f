"""Writes a program as text that assembles to an equal one; docs/assembler-r700.md describes the language."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from ctm.rtl.isa.r700.limits import FETCH_UNITS, LITERALS_PER_UNIT
from ctm.rtl.isa.r700.pipeline import PIPELINE_INFORMATION, Pipeline
from ctm.rtl.isa.r700.program import ProgramType
from ctm.sim.assembler.origins import OriginWriter
from ctm.sim.assembler.r700.form import Draft, alu_draft, fetch_draft
from ctm.sim.assembler.r700.groups.view import literal_words, views_of
from ctm.sim.assembler.r700.parser.source import CHECKED, LITERALS, UNCHECKED, UNIT
from ctm.sim.assembler.r700.printer.arithmetic import Words, group_text
from ctm.sim.assembler.r700.printer.control import has_target, word_text
from ctm.sim.assembler.r700.printer.fetch import fetch_text
from ctm.sim.assembler.r700.printer.fitting import words_text
from ctm.sim.assembler.r700.printer.reach import Clause, Reach, reach
from ctm.sim.elf.r700.executable import Executable

_INDENT = "    "
_COMMENT_COLUMN = 92


def disassemble(executable: Executable, *, sources: bool) -> str:
    """The program as text: directives, then everything where it stands, with addresses and source lines in comments."""
    return _Listing(executable).text(OriginWriter(executable.lines, sources=sources))


def statements(executable: Executable) -> dict[int, str]:
    """The text of each instruction by the unit of code at which it begins; of a group its instructions' texts."""
    return {section.address: "; ".join(section.lines) for section in _Listing(executable).sections()}


@dataclass
class _Section:
    """Lines that mean some units; the first has their address in a comment."""

    address: int
    lines: list[str]
    title: str = ""


@dataclass
class _Listing:
    executable: Executable
    found: Reach = field(init=False)
    targets: set[int] = field(init=False)
    starts: dict[int, str] = field(init=False)
    """Of a draw, the stage of the program that begins at an address."""
    labels: set[int] = field(init=False, default_factory=set)
    """Targets that are a position in the text."""

    def __post_init__(self) -> None:
        pipeline = self.executable.pipeline
        self.starts = {} if pipeline is None else {start: name for name, start in pipeline.starts.items()}
        self.found = reach(self.executable.code, (self.executable.start, *self.starts))
        self.targets = {draft.get("addr") for draft in self.found.words.values() if has_target(draft)}
        if self.executable.start:
            self.targets.add(self.executable.start)

    def sections(self) -> list[_Section]:
        """Everything where it stands."""
        sections = list(self._sections())
        self.labels = self.targets & {*(section.address for section in sections), len(self.executable.code)}
        for section in sections:
            draft = self.found.words.get(section.address)
            if draft is not None:
                target = draft.get("addr") if has_target(draft) else -1
                section.lines = [word_text(draft, _label(target) if target in self.labels else str(target))]
        return sections

    def text(self, origins: OriginWriter) -> str:
        sections = self.sections()
        labels, lines = self.labels, [*_notes(self.executable), *origins.head(), ""]
        if self.executable.start:
            lines[-1:] = [f".start {_label(self.executable.start)}", ""]
        ends = [*(section.address for section in sections[1:]), len(self.executable.code)]
        for section, end in zip(sections, ends, strict=True):
            lines += ["", f"; {section.title}"] if section.title else []
            lines += ["", f"; {self.starts[section.address]}"] if section.address in self.starts else []
            lines += [f"{_label(section.address)}:"] if section.address in labels else []
            lines += self._commented(section, end, origins)
        lines += [f"{_label(len(self.executable.code))}:"] if len(self.executable.code) in labels else []
        return "\n".join(lines) + "\n"

    def _commented(self, section: _Section, end: int, origins: OriginWriter) -> Iterator[str]:
        """Its lines, each with the line of the source that it comes from, if that is known.

        Each line is of one unit, but for the last one, which is of all that remain.
        """
        table = self.executable.lines
        unit, left = section.address, sum(map(_has_units, section.lines))
        for number, line in enumerate(section.lines):
            address, source = str(section.address) if not number else "", None
            if _has_units(line):
                left -= 1
                units = 1 if left else end - unit
                yield from origins.before(unit, units)
                source = table and table.at(unit)
                unit += units
            comment = f"{address:<6}{source}" if source else address
            yield f"{_INDENT + line:<{_COMMENT_COLUMN}}; {comment}" if comment else _INDENT + line

    def _sections(self) -> Iterator[_Section]:
        address = 0
        while address < len(self.executable.code):
            clause = self.found.clauses.get(address)
            if clause is not None:
                yield from self._alu(clause) if clause.is_alu else self._fetches(clause)
                address = clause.end
                continue
            if address in self.found.words:
                yield _Section(address, [])
            else:
                yield _Section(address, [f"{UNIT} {words_text(self.executable.code[address])}"])
            address += 1

    def _fetches(self, clause: Clause) -> Iterator[_Section]:
        title = f"fetch clause of word {clause.word}"
        for address in range(clause.begin, clause.end, FETCH_UNITS):
            words = [word for unit in self.executable.code[address : address + FETCH_UNITS] for word in unit]
            yield _Section(address, [fetch_text(fetch_draft(words, texture=clause.texture))], title)
            title = ""

    def _alu(self, clause: Clause) -> Iterator[_Section]:
        title = f"ALU clause of word {clause.word}"
        address, number = clause.begin, 0
        produced: frozenset[int] = frozenset()
        while address < clause.end:
            if address in self.targets:
                # It gets a label, and at a label nothing is known of what is before.
                produced = frozenset()
            words = self._group(address, clause.end)
            found = group_text(words, number, produced)
            if found is None:
                lines = [f"{UNIT} {words_text(unit)}" for unit in words.units]
                produced = frozenset()
            else:
                lines, produced = found
            yield _Section(address, lines, title)
            title = ""
            address += len(words.units)
            number += 1

    def _group(self, begin: int, end: int) -> Words:
        """The group at an address, as far as the clause reaches."""
        drafts: list[Draft] = []
        at = begin
        while at < end:
            drafts.append(alu_draft(self.executable.code[at]))
            at += 1
            if drafts[-1].get("last"):
                break
        count = -(-literal_words(views_of(drafts)) // LITERALS_PER_UNIT)
        units = self.executable.code[at : min(at + count, end)]
        return Words(tuple(drafts), tuple(word for unit in units for word in unit))


def _has_units(line: str) -> bool:
    return line.split()[0] not in (UNCHECKED, CHECKED, LITERALS)


def _label(address: int) -> str:
    return f"L{address}"


def _notes(executable: Executable) -> list[str]:
    """Directives for everything that the program's note says."""
    flags = [f".{name}" for name in ("dx10_clamp", "depth", "memory", "scratch") if getattr(executable, name)]
    return [
        f".isa {executable.kind}",
        ".manual",
        f".type {ProgramType(executable.type).name.lower()}",
        f".gprs {executable.gprs}",
        f".stack {executable.stack_size}",
        *flags,
        *([f".texture_base {executable.texture_base}"] if executable.texture_base else []),
        *([f".lds {executable.lds_dwords}"] if executable.lds_dwords else []),
        *([] if executable.stage is None else [f".stage {executable.stage.name.lower()}"]),
        *([] if executable.pipeline is None else _pipeline(executable.pipeline)),
    ]


def _pipeline(pipeline: Pipeline) -> list[str]:
    """A directive for each word of the pipeline note that is not 0."""
    words = dict(zip(PIPELINE_INFORMATION, pipeline.words, strict=True))
    return [f".pipeline {name} 0x{word:x}" for name, word in words.items() if word]

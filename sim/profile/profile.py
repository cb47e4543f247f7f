"""The profile of a run: for each of its programs the figures of each instruction and of each source line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ctm.sim.assembler.languages import statements
from ctm.sim.elf import Executable
from ctm.sim.elf.lines import Line
from ctm.sim.elf.sources import with_texts
from ctm.sim.engines.seen import Seen
from ctm.sim.profile.figures import ACCESSES, Figures, figures_of, total
from ctm.sim.profile.occupancy import Occupancy, Residency, code_fits, occupancy


@dataclass(frozen=True, kw_only=True)
class Statement:
    """An instruction: the slot or unit of code at which it begins, its text, its source line if that is known."""

    unit: int
    text: str
    line: Line | None
    figures: Figures


@dataclass(frozen=True, kw_only=True)
class ProgramProfile:
    """A program: its instructions in the order of the code, and the lines of those of its sources that are there."""

    name: str
    statements: tuple[Statement, ...]
    sources: Mapping[str, Sequence[str]] = field(default_factory=dict)
    occupancy: Occupancy | None = None
    """On the cores that ran it."""
    residency: Residency | None = None
    """What was seen of that; None where there are no cycles."""
    code_fits: bool = True
    """Whether a core keeps all of its code, so that it is loaded once."""

    def source(self, line: Line) -> str:
        """The text of a line; nothing where the source is not there."""
        lines = self.sources.get(line.file, ())
        return lines[line.line - 1].rstrip() if line.line <= len(lines) else ""

    @cached_property
    def figures(self) -> Figures:
        """Those of the whole program."""
        return total(each.figures for each in self.statements)

    @cached_property
    def lines(self) -> dict[Line, Figures]:
        """Those of each source line that has instructions, in the order of files and lines."""
        figures: dict[Line, list[Figures]] = {}
        for statement in self.statements:
            if statement.line is not None:
                figures.setdefault(statement.line, []).append(statement.figures)
        return {line: total(figures[line]) for line in sorted(figures)}

    @property
    def has_cycles(self) -> bool:
        """Whether it is known what wavefronts waited for."""
        return bool(self.figures.waited)


def profiles(seen: Seen, programs: Mapping[int, tuple[str, Executable]]) -> list[ProgramProfile]:
    """Profiles of the programs that issued something; `programs` are their names and executables by their address."""
    found = []
    for address, (name, executable) in programs.items():
        rows: dict[int, list[Figures]] = {}
        for row in seen.rows[seen.rows["executable"] == address]:
            rows.setdefault(int(row["pc"]), []).append(figures_of(row))
        if rows:
            program: Any = with_texts(executable)
            texts = {} if program.lines is None else program.lines.texts
            sources = {file: text.splitlines() for file, text in texts.items()}
            found.append(
                ProgramProfile(
                    name=name, statements=tuple(_statements(program, rows)), sources=sources,
                    occupancy=occupancy(executable, seen.array), code_fits=code_fits(executable),
                    residency=Residency.of(seen, address),
                )
            )  # fmt: skip
    return found


def _statements(executable: Any, rows: Mapping[int, list[Figures]]) -> list[Statement]:
    texts, lines = statements(executable), executable.lines
    return [
        Statement(
            unit=unit, text=texts.get(unit, ""), line=lines.units[unit] if lines is not None else None,
            figures=total(rows.get(unit, ())),
        )
        for unit in sorted(texts.keys() | rows.keys())
    ]  # fmt: skip


def as_json(profile: ProgramProfile) -> dict[str, object]:
    """A profile as plain values: of the program and of each instruction."""

    def figures(found: Figures) -> dict[str, object]:
        waited = {wait.name.lower(): count for wait, count in found.waited.items()}
        counts = {name: getattr(found, name) for name in ("issues", "active", "working", "present")}
        accesses = {name: getattr(found, name) for name in (*ACCESSES, "loaded", "from_memory")}
        return {**counts, **(accesses if profile.has_cycles else {}), "waited": waited or None}

    return {
        "program": profile.name,
        **figures(profile.figures),
        "residency": vars(profile.residency) if profile.residency else None,
        "instructions": [
            {"unit": each.unit, "text": each.text, "line": str(each.line) if each.line else None}
            | figures(each.figures)
            for each in profile.statements
        ],
    }

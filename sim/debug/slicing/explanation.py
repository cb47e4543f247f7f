"""A slice in words: what made a value, line by line."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ctm.sim.debug.code import Code
from ctm.sim.debug.slicing.cell import Cell
from ctm.sim.debug.slicing.conditions import Condition
from ctm.sim.debug.slicing.names import Names
from ctm.sim.debug.slicing.slicer import Cause, Slice, Words

_MOST = 24
"""Instructions that are shown, if not all are asked for."""
_MOST_OTHERS = 4
"""Fragments, likewise."""
_MASKS = ("active", "valid_mask", "branch_mask", "continue_mask", "break_mask", "loop_inactive", "written")
"""What of a wavefront's start is worth no word: all lanes are active there."""


@dataclass(frozen=True)
class Explanation:
    """What determined a value of a wavefront: the slice, and how to say it."""

    text: str
    slice: Slice
    names: Names
    code: Code
    condition: Condition | None = None
    """The conditional test that decided over an element."""
    before: tuple["Explanation", ...] = ()
    """Of a draw: what the programs in front of this one left for it."""
    others: tuple[str, ...] = ()
    """Of a draw: fragments of the pixel that are not stored, and why."""

    @property
    def lines(self) -> list[tuple[str, int]]:
        """The source lines that are in it, as (file, line), ascending."""
        found = (self.code.line(unit) for cause in self.slice.causes for unit in cause.slots)
        return sorted({(line.file, line.line) for line in found if line is not None})

    def rows(self, *, everything: bool = False) -> Iterator[str]:
        """The explanation as lines of text: the last instructions that matter, or all, and where it all began."""
        found = self.slice
        values = self._words(found.targets)
        yield f"{self.text}: {values}"
        if self.condition is not None:
            yield from self.condition.rows()
        named = self.others if everything else self.others[:_MOST_OTHERS]
        yield from named
        if len(named) < len(self.others):
            yield f"... and {len(self.others) - len(named):,} other fragments; `why /a` lists all"
        shown = found.causes if everything else found.causes[:_MOST]
        for cause in shown:
            yield from self._cause(cause)
        if len(shown) < len(found.causes):
            yield f"... and {len(found.causes) - len(shown):,} instructions before these; `why /a` lists all"
        own = {cell: word for cell, word in found.start.items() if cell.array not in _MASKS}
        beginnings = (
            ("constants", found.constants), ("inputs and memory", found.elements),
            (f"at step {found.first:,}" if found.first else "at the start", own),
        )  # fmt: skip
        for title, cells in beginnings:
            if cells:
                yield f"{title}: {self._words(cells)}"
        if self.lines:
            yield f"lines: {', '.join(self._ranges())}"
        for each in self.before:
            yield ""
            yield from each.rows(everything=everything)

    def _cause(self, cause: Cause) -> Iterator[str]:
        line = self.code.line(cause.slots[0])
        where = f"step {cause.step:,}"
        instruction = self.code.texts.get(cause.unit, "")
        source = self.code.label(cause.slots[0]) if line is None else f"{line}  {self.code.source(line).strip()}"
        yield f"{where}  {source}".rstrip()
        yield f"    {cause.unit:>4}  {instruction}"
        # Cells of the same reasons are one line.
        reasons: dict[tuple[Cell, ...], list[Cell]] = {}
        for cell in cause.made:
            reasons.setdefault(cause.reasons[cell], []).append(cell)
        for cells, made in reasons.items():
            yield f"          {self._reason(cause, made, cells)}"
        if cause.decided:
            yield f"          goes on from here by {self._words(cause.decided)}"

    def _reason(self, cause: Cause, made: list[Cell], cells: tuple[Cell, ...]) -> str:
        read = {cell: cause.read[cell] for cell in cells}
        (cell, *others) = made
        if not others and cell in read and read[cell] == cause.made[cell]:
            beside = {each: word for each, word in read.items() if each != cell}
            # What is made of other values may happen to be the same.
            if all(isinstance(word, np.bool_) for word in beside.values()):
                value = self.names.word(cell, cause.made[cell])
                return f"{self.names.name(cell)} keeps {value} by {self._words(beside)}"
        # An instruction that gives the same whatever it reads.
        because = self._words(read) or "nothing else"
        return f"{self._words({cell: cause.made[cell] for cell in made})} from {because}"

    def _words(self, cells: Words) -> str:
        return ", ".join(f"{self.names.name(cell)} = {self.names.word(cell, word)}" for cell, word in cells.items())

    def _ranges(self) -> Iterable[str]:
        """The lines, those that follow each other as one range."""
        rows: list[tuple[str, int, int]] = []
        for file, line in self.lines:
            if rows and rows[-1][0] == file and rows[-1][2] == line - 1:
                rows[-1] = file, rows[-1][1], line
            else:
                rows.append((file, line, line))
        return [f"{file}:{first}" + (f"-{last}" if last > first else "") for file, first, last in rows]

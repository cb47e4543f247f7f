"""Where code comes from if that is not the text itself: the directives `.file` and `.line` of every language.

`.file "NAME" CHECKSUM` names the file that the lines from there on are of, `.line N` the line of the code after it,
`.line none` says that there is none. Of what becomes several units of code a line may be given for each, the last for
all others: `.line 3, 4, none`, and such a line may have a file of its own: `.line 3, "NAME" 4`.
"""

import json
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from ctm.sim.assembler.cursor import Cursor
from ctm.sim.assembler.tokens import Kind
from ctm.sim.elf.lines import Line, Lines
from ctm.sim.elf.sources import checksum, shown, source_text

FILE, LINE = ".file", ".line"
NONE = "none"
_NO_FILE = f'a file must be named before, as in {FILE} "NAME"'


@dataclass
class Origins:
    """What a text says of where its code comes from.

    `marks` are the lines of the text from which on code comes from elsewhere, ascending.
    """

    marks: list[tuple[int, tuple[Line | None, ...]]] = field(default_factory=list)
    checksums: dict[str, int] = field(default_factory=dict)
    file: str = ""

    def parse(self, cursor: Cursor) -> None:
        """Take in one of the directives, the first token of which is next; they come in the order of the text.

        Raises
        ------
        SourceError
            It has a wrong value.
        """
        position, name = cursor.position, cursor.take().text.lower()
        if name == LINE:
            self.marks.append((position.line, tuple(self._lines(cursor))))
        else:
            self.file = _string(cursor)
            if not cursor.at_end:
                self.checksums[self.file] = cursor.integer("a checksum", 1 << 32)
        cursor.expect_end()

    def _lines(self, cursor: Cursor) -> Iterator[Line | None]:
        while True:
            if cursor.accept(NONE):
                yield None
            else:
                file = _string(cursor) if cursor.token.kind is Kind.STRING else self.file
                if not file:
                    cursor.fail(_NO_FILE)
                position = cursor.position
                number = cursor.integer(f"a line, or {NONE}", 1 << 32)
                if not number:
                    cursor.fail_at("lines are counted from 1", position)
                yield Line(file, number)
            if not cursor.accept(","):
                return

    def table(self, lines: Sequence[int], name: str, text: str) -> Lines | None:
        """The line table of code whose units come from these lines of the text, which is in file `name`."""
        own = shown(name)
        units = tuple(self._units(lines, own))
        if not any(units):
            return None
        checksums = {file: value for file, value in self.checksums.items() if value}
        first = self.marks[0][0] if self.marks else None
        if own in checksums or not any(first is None or line < first for line in lines):
            return Lines(units, checksums)
        return Lines(units, {own: checksum(text), **checksums}, {own: text})

    def _units(self, lines: Sequence[int], own: str) -> Iterator[Line | None]:
        starts = [start for start, _ in self.marks]
        for line, run in groupby(lines):
            at = bisect_right(starts, line)
            said = self.marks[at - 1][1] if at else (Line(own, line),)
            for number, _ in enumerate(run):
                yield said[min(number, len(said) - 1)]


def _string(cursor: Cursor) -> str:
    token = cursor.accept_kind(Kind.STRING)
    if token is None:
        cursor.fail(f"expected a file's name in quotes, not {cursor.described()}")
    try:
        text = str(json.loads(token.text))
        # Half of a surrogate pair cannot be written.
        text.encode()
    except ValueError:
        text = ""
    if not text or "\0" in text:
        cursor.fail_at(f"{token.text} is no name of a file", token.position)
    return text


class OriginWriter:
    """Writes the directives for the units of a program in the order of its text.

    With `sources`, lines whose text is at hand show it in a comment.
    """

    def __init__(self, lines: Lines | None, *, sources: bool = False) -> None:
        self._lines = lines or Lines(())
        self._file = ""
        self._said: tuple[Line | None, ...] | None = None
        self._with_sources = sources
        self._checked: set[str] = set()

    def head(self) -> list[str]:
        """What stands before all code where there are no lines."""
        return [] if self._lines.units else [f"{LINE} {NONE}"]

    def before(self, unit: int, units: int = 1) -> list[str]:
        """What stands before a line of text that becomes so many units, the first of them `unit`."""
        if not self._lines.units:
            return []
        said = [self._lines.at(each) for each in range(unit, unit + units)]
        while len(said) > 1 and said[-1] == said[-2]:
            said.pop()
        if tuple(said) == self._said:
            return []
        self._said = tuple(said)
        return [*self._files(said), self._line(said, unit)]

    def _files(self, said: Sequence[Line | None]) -> Iterator[str]:
        """Directives for files that are named for the first time, and for the one that lines are of from here on."""
        files = list(dict.fromkeys(line.file for line in said if line))
        for file in [*(file for file in files[1:] if file not in self._checked), *files[:1]]:
            if file != self._file or file not in self._checked:
                number = self._lines.checksums.get(file, 0) if file not in self._checked else 0
                yield f"{FILE} {_quoted(file)}" + (f" 0x{number:08x}" if number else "")
                self._checked.add(file)
                self._file = file

    def _line(self, said: Sequence[Line | None], unit: int) -> str:
        texts = []
        for line in said:
            file = f"{_quoted(line.file)} " if line and line.file != self._file else ""
            texts.append(f"{file}{line.line}" if line else NONE)
        line = self._lines.at(unit) if self._with_sources else None
        text = source_text(self._lines, line) if line else None
        return f"{LINE} {', '.join(texts)}" + (f"  ; {text}" if text else "")


def _quoted(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)

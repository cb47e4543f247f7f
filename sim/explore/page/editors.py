"""The source and the instructions: what is marked in them, and lines that are the same on both sides."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from nicegui import ui
from nicegui.events import GenericEventArguments

from ctm.sim.explore.page.looks import CLICKED, LIGHT, colour
from ctm.sim.explore.request import Cost, Problem, Program

Decoration = dict[str, Any]
Chosen = Callable[[int], None]
_LANGUAGES = {".c": "C", ".py": "Python"}
_NO_LANGUAGE: Final = "Gas"
_SHOWN = 0.001
"""A line that costs less of all has no figure."""
_WORD = re.compile(r"\w+|.")


def language_of(name: str) -> Any:
    """What an editor calls the language of a file."""
    return next((found for ending, found in _LANGUAGES.items() if name.endswith(ending)), _NO_LANGUAGE)


def colours_of(programs: Iterable[Program]) -> dict[int, str]:
    """The colour of each source line that has instructions, of whatever program."""
    lines = sorted({each.line for program in programs for each in program.instructions if each.line})
    return {line: colour(index) for index, line in enumerate(lines)}


class SourceEditor:
    """The source, which the user writes."""

    def __init__(self, changed: Callable[[], None], chosen: Chosen) -> None:
        self.element = ui.codemirror(theme=LIGHT, on_change=lambda _: changed(), line_wrapping=False)
        self.element.classes("ctm-editor")
        self.element.on("click", _handler(chosen), js_handler=CLICKED)

    @property
    def text(self) -> str:
        """What stands in it."""
        return self.element.value or ""

    def show(
        self, colours: Mapping[int, str], problems: Iterable[Problem], costs: Mapping[int, Cost], chosen: int
    ) -> None:
        """Mark lines: their colours, what each cost of all, errors, and the one that is chosen."""
        lines = self.text.split("\n")
        found: list[Decoration] = []
        for line, name in colours.items():
            if line <= len(lines):
                found.append(_line(line, line, name, is_chosen=line == chosen))
        ends = _ends(lines)
        whole = sum(each.cost for each in costs.values())
        for line, cost in costs.items():
            if line <= len(lines) and cost.cost > _SHOWN * whole:
                text = f"{cost.cost / whole:.1%}"
                found.append({"kind": "widget", "position": ends[line - 1], "text": text, "class": "ctm-share"})
        tips: dict[int, str] = {}
        for problem in problems:
            if 0 < problem.line <= len(lines):
                found += _error(problem, lines, ends)
                tips[problem.line] = "\n".join(filter(None, (tips.get(problem.line), problem.message)))
        self.element.decorations = found
        self.element.line_tooltips = tips


class Listing:
    """The instructions of a program, one a line."""

    def __init__(self, chosen: Chosen) -> None:
        # An element that is disabled hears no clicks.
        with ui.element("div").on("click", _handler(chosen), js_handler=CLICKED) as self.box:
            self.element = ui.codemirror(language=_NO_LANGUAGE, theme=LIGHT).classes("ctm-listing")
        self.element.disable()
        self._lines: list[int] = []

    def show(self, program: Program | None, colours: Mapping[int, str], chosen: int) -> None:
        """Show a program; None: there is nothing."""
        instructions = () if program is None else program.instructions
        width = max((len(str(each.unit)) for each in instructions), default=0)
        texts = []
        for each in instructions:
            # An instruction group takes several lines, whose first has its unit.
            first, *more = each.text.split("\n")
            texts.append([f"{each.unit:>{width}}  {first}", *(f"{'':>{width}}  {line}" for line in more)])
        self._lines = [each.line for each, text in zip(instructions, texts, strict=True) for _ in text]
        value = "\n".join(line for text in texts for line in text)
        if self.element.value != value:
            self.element.value = value
        self.element.decorations = [
            _line(number, line, colours[line], is_chosen=line == chosen)
            for number, line in enumerate(self._lines, 1)
            if line in colours
        ]

    def reveal(self, line: int) -> None:
        """Show the first instruction of a source line."""
        if line in self._lines:
            self.element.reveal_line(self._lines.index(line) + 1)


def _handler(chosen: Chosen) -> Callable[[GenericEventArguments], None]:
    def clicked(event: GenericEventArguments) -> None:
        if isinstance(event.args, int):
            chosen(event.args)

    return clicked


def _line(number: int, line: int, name: str, *, is_chosen: bool) -> Decoration:
    classes = f"ctm-own {name}{' ctm-chosen' if is_chosen else ''}"
    return {"kind": "line", "line": number, "class": classes, "attributes": {"data-line": str(line)}}


def _ends(lines: list[str]) -> list[int]:
    found, at = [], 0
    for line in lines:
        at += len(line)
        found.append(at)
        at += 1
    return found


def _error(problem: Problem, lines: list[str], ends: list[int]) -> list[Decoration]:
    """The line of an error, and what begins at its column."""
    index = problem.line - 1
    found: list[Decoration] = []
    if not problem.is_warning:
        found.append({"kind": "line", "line": problem.line, "class": "ctm-error"})
    text = lines[index]
    if 0 < problem.column <= len(text):
        word = _WORD.match(text, problem.column - 1)
        assert word is not None
        begin = ends[index] - len(text)
        found.append({"kind": "mark", "from": begin + word.start(), "to": begin + word.end(), "class": "ctm-at"})
    return found

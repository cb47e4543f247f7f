"""What a kernel did: its result, where its time went, its instructions; objects that notebooks show."""

from dataclasses import dataclass
from html import escape
from importlib.util import find_spec
from io import StringIO
from typing import Any

from rich.console import Console

from ctm.sim.engines.engine import Report
from ctm.sim.kernels.workspace import Results
from ctm.sim.profile.advice import advice
from ctm.sim.profile.profile import ProgramProfile
from ctm.sim.profile.source import STYLE, source_html
from ctm.sim.profile.text import print_profile

_WIDTH = 150
_LINE_TABLE = (".file ", ".line ")
"""Directives of the line table: comments name the lines, too."""


@dataclass(frozen=True, kw_only=True, eq=False)
class KernelProfile:
    """A run of a kernel: what it gave, what the engine counted, and the profile of its program."""

    result: Results
    report: Report
    program: ProgramProfile

    def table(self) -> Any:
        """A row for each source line: a pandas DataFrame if pandas is there, else `Rows`.

        Columns are `line`, `source`, `share` of the cost of all lines, `issues`, `efficiency` and the cycles that
        wavefronts waited for each cause, in lower case.
        """
        whole = self.program.figures.cost or 1
        rows = [
            {
                "line": line.line, "source": self.program.source(line), "share": figures.cost / whole,
                "issues": figures.issues, "efficiency": figures.efficiency,
                **{wait.name.lower(): count for wait, count in figures.waited.items()},
            }
            for line, figures in self.program.lines.items()
        ]  # fmt: skip
        if find_spec("pandas") is None:
            return Rows(rows)
        import pandas  # type: ignore[import-untyped,unused-ignore]

        return pandas.DataFrame(rows)

    def __str__(self) -> str:
        """The text of ``ctm run --profile``."""
        stream = StringIO()
        print_profile(self.program, Console(file=stream, width=_WIDTH, markup=False))
        return stream.getvalue()

    def _repr_html_(self) -> str:
        """The source with its heat map; a line opens with its instructions and waits."""
        whole = self.program.figures
        cycles = "" if self.report.cycles is None else f"{self.report.cycles:,} cycles, "
        sentences = "".join(f"<li>{escape(text)}</li>" for text in advice(self.program))
        return (
            f'<style>{STYLE}</style><div class="ctm-profile"><p>{cycles}{whole.issues:,} instructions, '
            f"{whole.efficiency:.0%} of the lanes that are covered work</p><ul>{sentences}</ul>"
            f"{source_html(self.program)}</div>"
        )


class Rows(list[dict[str, Any]]):
    """Dictionaries with the same keys, which a notebook displays as a table."""

    def _repr_html_(self) -> str:
        names = list(self[0]) if self else []
        head = "".join(f"<th>{escape(name)}</th>" for name in names)
        body = "".join(f"<tr>{''.join(_cell(row[name]) for name in names)}</tr>" for row in self)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    """Numbers at the right, with six digits as pandas prints them; texts as they are indented."""
    if isinstance(value, str):
        return f'<td style="text-align: left; white-space: pre">{escape(value)}</td>'
    return f'<td style="text-align: right">{value:.6g}</td>' if isinstance(value, float) else f"<td>{value}</td>"


class Disassembly(str):
    """The text of a program, from which it can be assembled again; a notebook displays it without its line table."""

    def _repr_html_(self) -> str:
        shown = "".join(line for line in self.splitlines(keepends=True) if not line.startswith(_LINE_TABLE))
        return f'<pre style="font-family: monospace; white-space: pre; overflow-x: auto">{escape(shown)}</pre>'

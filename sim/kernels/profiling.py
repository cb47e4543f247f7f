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


@dataclass(frozen=True, kw_only=True, eq=False)
class KernelProfile:
    """A run of a kernel: what it gave, what the engine counted, and the profile of its program."""

    result: Results
    report: Report
    program: ProgramProfile

    def table(self) -> Any:
        """A row for each source line: a pandas DataFrame if pandas is there, else a list of dictionaries.

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
            return rows
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


class Disassembly(str):
    """The text of a program, which a notebook shows as it is."""

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self)}</pre>"

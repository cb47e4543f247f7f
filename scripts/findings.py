"""What the demonstration found, as a table and as a report."""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

_TITLES = ("program", "processors", "cycles", "seconds", "golden", "numpy", "error")
_TEXTS = ("program", "golden", "numpy")

_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>CTM machine: demonstration</title>
<style>
body {{ font: 16px/1.5 sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; color: #222; }}
table {{ border-collapse: collapse; }}
td, th {{ padding: 0.2em 0.8em; border-bottom: 1px solid #ccc; text-align: right; }}
td:nth-child(1), td:nth-child(5), td:nth-child(6), th:nth-child(1), th:nth-child(5), th:nth-child(6) {{
  text-align: left; }}
img {{ max-width: 100%; image-rendering: pixelated; }} figure {{ margin: 2em 0; }} .wrong {{ color: #b00; }}
</style>
<h1>CTM machine: demonstration</h1>
<p>Every program went through the whole machine, its hardware simulated cycle by cycle: an ELF executable, command
buffers in memory, the AXI ports. Its result was compared with the golden model in every bit, and with plain numpy, that
of a compiled program with what a software renderer had. {verdict}</p>
{table}
{figures}
</html>
"""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One program: what it took, whether its result is right, and its picture.

    `is_golden` says whether the result is the golden model's in every bit, `agrees` how well it agrees with what is
    expected; `worst_error` is an absolute difference.
    """

    name: str
    processors: int
    cycles: int
    seconds: float
    is_golden: bool
    agrees: str
    worst_error: float
    is_right: bool
    picture: str | None = None
    caption: str = ""

    @property
    def cells(self) -> tuple[str, ...]:
        """The row of the table."""
        return (
            self.name,
            f"{self.processors:,}",
            f"{self.cycles:,}",
            f"{self.seconds:.2f}",
            "equal" if self.is_golden else "DIFFERS",
            self.agrees if self.is_right else "WRONG",
            f"{self.worst_error:.2g}",
        )


def print_table(findings: Sequence[Finding]) -> None:
    """Print all findings."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for title in _TITLES:
        table.add_column(title, justify="left" if title in _TEXTS else "right")
    for finding in findings:
        table.add_row(*finding.cells, style=None if finding.is_right else "bold red")
    Console().print(table)


def write_report(findings: Sequence[Finding], path: Path) -> None:
    """Write the table and the pictures, which lie beside the report, as a page."""
    wrong = sum(not finding.is_right for finding in findings)
    verdict = f'<b class="wrong">{wrong} of {len(findings)} are wrong.</b>' if wrong else "All are right."
    rows = [_row("th", _TITLES), *(_row("td", finding.cells) for finding in findings)]
    figures = [
        f'<figure><h2>{finding.name}</h2><img src="{finding.picture}" alt="{finding.name}">'
        f"<figcaption>{html.escape(finding.caption)}</figcaption></figure>"
        for finding in findings
        if finding.picture is not None
    ]
    table = "<table>\n" + "\n".join(rows) + "\n</table>"
    path.write_text(_PAGE.format(verdict=verdict, table=table, figures="\n".join(figures)), encoding="utf-8")


def _row(tag: str, cells: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

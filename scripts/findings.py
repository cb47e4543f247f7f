"""What the demonstration found, as a table and as a report."""

import html
import importlib.metadata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from ctm.rtl.config import DEFAULT, MachineConfig
from ctm.sim.compiled.tools.package import PROJECT
from ctm.sim.profile.source import STYLE as SOURCE_STYLE
from ctm.sim.report.page.frame import framed
from ctm.sim.report.utilisation import percent

COLUMNS = {
    "program": "an example, or a program that Mesa's compiler made of GLSL",
    "pixels": "pixels of its domains: each computes one element, a vector of up to four numbers",
    "cycles": "clock cycles of the hardware, from the first command buffer's push to the last one's end; the largest "
    "one runs compiled for this computer",
    "ALU issue": "share of these cycles in which the core's lanes take an arithmetic instruction, or a segment of an "
    "R700 wavefront's group of five; they can in each of them",
    "seconds": "how long the simulation took on this computer",
    "golden": "whether every bit is that of the golden model, of the largest one in a sample",
    "numpy": "how well the result agrees with plain numpy, with which draws are not compared",
    "error": "the greatest absolute difference from it",
}
"""Titles, and what they mean."""
_WIDTH = 100
_NOTHING = "-"
_TEXTS = ("program", "golden", "numpy")

_TITLE = "CTM machine: demonstration"
# On a narrow screen each row is a block of its own, in which every cell has its title in front.
_STYLE = """
.findings td, .findings th { padding: 0.2em 0.8em; border-bottom: 1px solid var(--edge); text-align: right; }
.findings .text { text-align: left; } .wrong { color: var(--bad); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1em; } dt { font-weight: bold; } dd { margin: 0; }
.pictures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(17em, 100%), 1fr)); gap: 1.5em;
            margin: 1.5em 0; }
figure { margin: 0; min-width: 0; } img { width: 100%; image-rendering: pixelated; }
figure h2 { font-size: 1.1em; margin: 0 0 0.3em; border: 0; }
@media (max-width: 45em) {
  .findings, .findings tbody, .findings tr { display: block; } .findings tr:first-child { display: none; }
  .findings tr { padding: 0.6em 0; }
  .findings td { display: flex; justify-content: space-between; gap: 1em; padding: 0.1em 0; }
  .findings td::before { content: attr(data-title); color: var(--soft); }
  .findings td:first-child { font-weight: bold; } .findings td:first-child::before { content: none; }
  dl { grid-template-columns: 1fr; } dd { margin-bottom: 0.4em; }
}
"""
_BODY = """<p>{version}, {date}. {configuration}.</p>
<p>Every program went through the whole machine, its hardware simulated cycle by cycle: an ELF executable, command
buffers in memory, the AXI ports. Its result was compared with the golden model in every bit, and with plain numpy, that
of a compiled program with what a software renderer had. The draw and the largest one were compiled for this computer,
by engine "fast". {verdict}</p>
<div class="pictures">
{figures}
</div>
{table}
{explanation}
{profile}"""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One program: what it took, whether its result is right, and its picture.

    `is_golden` says whether the result is the golden model's in every bit, `agrees` how well it agrees with what is
    expected; `worst_error` is an absolute difference.
    """

    name: str
    pixels: int
    cycles: int | None
    """None of what ran compiled."""
    taken: int | None
    """Cycles in which the lanes take an ALU or OUTPUT instruction, or an ALU instruction group; None as well."""
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
            f"{self.pixels:,}",
            _NOTHING if self.cycles is None else f"{self.cycles:,}",
            _NOTHING if self.cycles is None or self.taken is None else percent(self.taken / self.cycles),
            f"{self.seconds:.2f}",
            "equal" if self.is_golden else "DIFFERS",
            self.agrees if self.is_right else "WRONG",
            f"{self.worst_error:.2g}",
        )


def print_table(findings: Sequence[Finding]) -> None:
    """Print all findings."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for title in COLUMNS:
        table.add_column(title, justify="left" if title in _TEXTS else "right", no_wrap=True)
    for finding in findings:
        table.add_row(*finding.cells, style=None if finding.is_right else "bold red")
    # A narrow terminal breaks lines; cut figures would say nothing.
    Console(width=max(_WIDTH, Console().width)).print(table)


def write_report(findings: Sequence[Finding], path: Path, profile: str = "") -> None:
    """Write the pictures, which lie beside the report, the table, and a profile as HTML, as a page."""
    wrong = sum(not finding.is_right for finding in findings)
    verdict = f'<b class="wrong">{wrong} of {len(findings)} are wrong.</b>' if wrong else "All are right."
    titles = "".join(f"<th{_align(title)}>{title}</th>" for title in COLUMNS)
    rows = [f"<tr>{titles}</tr>", *map(_row, findings)]
    figures = [
        f'<figure><h2>{finding.name}</h2><img src="{finding.picture}" alt="{finding.name}">'
        f"<figcaption>{html.escape(finding.caption)}</figcaption></figure>"
        for finding in findings
        if finding.picture is not None
    ]
    body = _BODY.format(
        profile=profile,
        version=f"Version {importlib.metadata.version(PROJECT)}",
        date=f"{date.today():%-d %B %Y}",
        configuration=html.escape(_configuration(DEFAULT)),
        verdict=verdict,
        table='<table class="findings">\n' + "\n".join(rows) + "\n</table>",
        explanation="<dl>" + "\n".join(f"<dt>{title}<dd>{text}" for title, text in COLUMNS.items()) + "</dl>",
        figures="\n".join(figures),
    )
    path.write_text(framed(_TITLE, body, style=_STYLE + SOURCE_STYLE), encoding="utf-8")


def _configuration(config: MachineConfig) -> str:
    array, memory = config.array, config.memory
    cores = "one core" if array.cores == 1 else f"{array.cores} cores"
    return (
        f"The default configuration: {cores} of {array.lanes} lanes and {array.threads} wave slots, "
        f"memory ports of {memory.data_bits} bits, {memory.latency} cycles of latency and "
        f"{memory.bytes_per_cycle} bytes a cycle"
    )


def _row(finding: Finding) -> str:
    cells = (
        f'<td{_align(title)} data-title="{title}">{html.escape(cell)}</td>'
        for title, cell in zip(COLUMNS, finding.cells, strict=True)
    )
    return f"<tr{'' if finding.is_right else ' class=wrong'}>{''.join(cells)}</tr>"


def _align(title: str) -> str:
    return ' class="text"' if title in _TEXTS else ""

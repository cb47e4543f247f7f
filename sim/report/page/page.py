"""The page: what ran, its outputs as pictures, where the time went, counters, and how to run it again."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt
from plotly.offline import get_plotlyjs

from ctm import __version__
from ctm.rtl.config import MachineConfig, settings_of
from ctm.rtl.isa.host import COUNTERS, DRAW_COUNTERS
from ctm.sim.elf import Executable
from ctm.sim.engines.engine import Report
from ctm.sim.engines.seen import Seen
from ctm.sim.profile.figures import CAUSES
from ctm.sim.profile.profile import ProgramProfile, profiles
from ctm.sim.profile.section import section_html
from ctm.sim.profile.source import STYLE as SOURCE_STYLE
from ctm.sim.report.page import charts
from ctm.sim.report.page.frame import framed
from ctm.sim.report.provenance import hashes
from ctm.sim.report.timeline import events
from ctm.sim.report.utilisation import utilisation

_HASH = 16
_WORDS = 256
"""Of a stream, that are shown."""
_CAUSES = (
    '<details class="soft"><summary>What these causes are</summary><table>'
    + "".join(f"<tr><td>{wait.name.lower()}<td>{escape(text)}" for wait, text in CAUSES.items())
    + "</table></details>"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Ran:
    """A run: its name and command, the engine, and everything that is known of it afterwards."""

    name: str
    command: str
    engine: str
    config: MachineConfig
    report: Report
    outputs: Mapping[str, npt.NDArray[Any]]
    programs: Mapping[int, tuple[str, Executable]]
    seen: Seen


def page_of(ran: Ran) -> str:
    """The page as HTML."""
    found = profiles(ran.seen, ran.programs)
    body = "\n".join([_head(ran), _outputs(ran), *_programs(found), *_time(ran), _counters(ran), _reproduce(ran)])
    return framed(ran.name, body, style=SOURCE_STYLE, library=get_plotlyjs())


def embed(figure: Any, name: str) -> str:
    """A chart, by a name of its own, so that the same run gives the same page."""
    html: str = figure.to_html(
        full_html=False, include_plotlyjs=False, config={"responsive": True, "displaylogo": False}, div_id=name
    )
    return html


def _head(ran: Ran) -> str:
    report = ran.report
    facts = [f"engine {ran.engine}", f"{report.instructions:,} instructions"]
    facts.append(f"{report.lane_instructions:,} lane instructions")
    if report.cycles is not None:
        facts.insert(1, f"{report.cycles:,} cycles")
        facts += str(utilisation(report.counters, cycles=report.cycles, array=ran.config.array)).split("\n")
    return f'<p class="soft">{escape("; ".join(facts))}</p>'


def _outputs(ran: Ran) -> str:
    cells: list[str] = []
    for name, array in ran.outputs.items():
        if array.ndim == 1:
            cells.append(f'<div class="picture"><h3>{escape(name)}</h3>{_words(array)}</div>')
            continue
        figure, step = charts.picture(array)
        shape = " x ".join(map(str, array.shape))
        note = "" if step == 1 else f"; one element in {step} along each axis is shown"
        title = f'<h3>{escape(name)}</h3><p class="soft">{shape}{note}</p>'
        cells.append(f'<div class="picture">{title}{embed(figure, f"picture-{len(cells)}")}</div>')
    return f'<h2>Outputs</h2><div class="columns">{"".join(cells)}</div>'


def _words(array: npt.NDArray[Any]) -> str:
    """The words of a stream as floats, the first ones."""
    shown = [f"{number:.6g}" for number in array[:_WORDS].view(np.float32).tolist()]
    rows = "\n".join("  ".join(f"{each:>12}" for each in shown[at : at + 4]) for at in range(0, len(shown), 4))
    note = "" if len(shown) == len(array) else f"; the first {_WORDS} are shown"
    return f'<p class="soft">{len(array):,} words, as floats{note}</p><pre>{rows}</pre>'


def _programs(found: Sequence[ProgramProfile]) -> Iterator[str]:
    for number, profile in enumerate(found):
        bars = embed(charts.waits(profile), f"waits-{number}") + _CAUSES if profile.has_cycles else ""
        yield section_html(f"Program {profile.name}", profile, waits=bars)


def _time(ran: Ran) -> Iterator[str]:
    if not ran.seen.has_times or not len(ran.seen.events):
        return
    end = ""
    if ran.seen.lost_events:
        end = f'<p class="soft">Occupancy ends at cycle {int(ran.seen.events["cycle"][-1]):,}: no more was kept.</p>'
    first, count = charts.first_waits(events(ran.seen, ran.programs, ran.config))
    figures = (
        ("Occupancy", charts.occupancy(ran.seen, ran.config)),
        ("Memory traffic", charts.traffic(ran.seen, ran.config)),
        ("Roofline", charts.roofline(ran.report, ran.config)),
    )
    yield "<h2>Over time</h2>" + end + '<div class="columns">'
    yield from (f"<div><h3>{title}</h3>{embed(figure, title.split()[-1].lower())}</div>" for title, figure in figures)
    shown = f"All {count:,}" if len(first) == count else f"The first {len(first):,} of {count:,}"
    yield f'</div><h3>Waits of each wave slot</h3><p class="soft">{shown}. Gaps are issues and empty slots.</p>'
    yield embed(charts.timeline(first, cores=ran.config.array.cores), "timeline")


def _table(values: Mapping[str, object], texts: Mapping[str, str]) -> str:
    rows = "".join(
        f'<tr><td>{escape(name)}<td class="number">{f"{value:,}" if isinstance(value, int) else escape(str(value))}'
        f'<td class="soft">{escape(texts.get(name, ""))}'
        for name, value in values.items()
    )
    return f'<div class="wide"><table>{rows}</table></div>'


def _counters(ran: Ran) -> str:
    texts = {name.lower(): text for name, text in (COUNTERS | DRAW_COUNTERS).items()}
    return (
        f'<div class="columns"><div><h2>Counters</h2>{_table(ran.report.counters, texts)}</div>'
        f"<div><h2>Configuration</h2>{_table(settings_of(ran.config), {})}</div></div>"
    )


def _reproduce(ran: Ran) -> str:
    rows = "".join(
        f"<tr><td>{escape(name)}<td><code>{value[:_HASH]}</code>" for name, value in hashes(ran.programs).items()
    )
    return (
        f"<h2>Run it again</h2><pre>{escape(ran.command)}</pre>"
        f'<p class="soft">Version {escape(__version__)}. The first figures of the SHA-256 of each executable:</p>'
        f"<table>{rows}</table>"
    )

"""The page of a run: campaigns, failing seeds with their programs, coverage and its holes, how to run it again."""

from collections.abc import Iterator, Sequence
from html import escape

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from ctm import __version__
from ctm.sim.report.page.charts import STANDOFF, chart
from ctm.sim.report.page.frame import framed
from ctm.sim.report.page.page import embed
from ctm.tb.verify.coverage.holes import Coverage
from ctm.tb.verify.report import Results
from ctm.tb.verify.sources import sources
from ctm.tb.verify.tally import Failure

_MOST_HOLES = 500
"""Holes of a table that are listed."""
_COVERED, _EXPLAINED, _HOLES = "#10b981", "#94a3b8", "#ef4444"
_BAR, _MARGIN = 22, 120
"""Heights in pixels."""
_SHOWN = ("program", "programs", "seed")
"""Keys of a case that stand by themselves."""


def page_of(results: Results, *, command: str) -> str:
    """The page as HTML; `command` made it."""
    failures, tables = results.failures, results.coverage
    sections = [_head(results), _campaigns(results)]
    if failures:
        sections += ["<h2>Failing seeds</h2>", *map(_failure, failures)]
    if tables:
        sections += ["<h2>Coverage</h2>", embed(_chart(tables), "coverage"), *(_table(each) for each in tables)]
    sections += ["<h2>Run it again</h2>", f"<pre>{escape(command)}</pre>"]
    sections += [f'<p class="soft">Version {escape(__version__)}, sources {sources()}.</p>']
    return framed("Verification", "\n".join(sections), library=get_plotlyjs())


def _head(results: Results) -> str:
    seeds = sum(tally.seeds for tally in results.tallies)
    facts = [f"{seeds:,} seeds in {results.seconds:,.0f} s", f"{len(results.failures):,} failing"]
    facts += [f"holes in coverage: {results.holes:,}"]
    facts += [f"ended early: {results.ended_by}"] if results.ended_by else []
    return f'<p class="soft">{escape("; ".join(facts))}</p>'


def _campaigns(results: Results) -> str:
    rows = "".join(
        f'<tr><td>{escape(tally.campaign.name)}<td>{escape(tally.campaign.about)}<td class="number">{tally.seeds:,}'
        f'<td class="number">{len(tally.failures):,}<td class="number">{tally.seconds:,.0f}'
        f"<td>{escape('; '.join(dict.fromkeys(tally.lost)))}"
        for tally in results.tallies
    )
    head = "<th>campaign<th>what it runs<th>seeds<th>failing<th>seconds of workers<th>could not be done"
    return f'<h2>Campaigns</h2><div class="wide"><table><tr>{head}{rows}</table></div>'


def _failure(failure: Failure) -> str:
    program = "\n".join(failure.listing)
    others = {name: value for name, value in failure.case.items() if name not in _SHOWN}
    size = f"{failure.size} items left" if failure.size else "not reduced"
    facts = ", ".join([size, *(f"{name} {value}" for name, value in others.items())])
    return (
        f"<h3>{escape(failure.name)}</h3><pre>{escape(failure.difference)}</pre>"
        f'<p class="soft">{escape(facts)}</p>{f"<pre>{escape(program)}</pre>" if program else ""}'
    )


def _chart(tables: Sequence[Coverage]) -> go.Figure:
    """A bar for each table: the shares that are covered, explained, and neither."""
    names = [table.table for table in tables]
    counts = {
        "covered": (_COVERED, [table.covered for table in tables]),
        "explained": (_EXPLAINED, [len(table.explained) for table in tables]),
        "neither": (_HOLES, [len(table.holes) for table in tables]),
    }
    totals = [max(1, len(table.cells)) for table in tables]
    bars = [
        go.Bar(
            name=name, orientation="h", y=names, marker_color=colour, customdata=values,
            x=[100 * value / total for value, total in zip(values, totals, strict=True)],
            hovertemplate="%{customdata} cells, %{x:.1f} %<extra>" + name + "</extra>",
        )
        for name, (colour, values) in counts.items()
    ]  # fmt: skip
    figure = chart(bars, height=_BAR * len(tables) + _MARGIN, barmode="stack", legend_traceorder="normal")
    figure.update_xaxes(title="% of the table's cells")
    figure.update_yaxes(autorange="reversed", ticklabelstandoff=STANDOFF)
    return figure


def _table(table: Coverage) -> str:
    return "\n".join(_table_elements(table))


def _table_elements(table: Coverage) -> Iterator[str]:
    covered = f"{table.covered:,} of {len(table.cells):,} cells covered"
    yield f'<h3>{escape(table.table)}</h3><p class="soft">{covered}</p>'
    reasons: dict[str, int] = {}
    for reason in table.explained.values():
        reasons[reason] = reasons.get(reason, 0) + 1
    if reasons:
        rows = "".join(f'<tr><td class="number">{count:,}<td>{escape(why)}' for why, count in reasons.items())
        yield f"<table><tr><th>cells<th>why no program covers them{rows}</table>"
    if table.holes:
        title = f"hole{'s' * (len(table.holes) != 1)}" if table.is_enough else "not covered yet"
        listed = "\n".join(table.holes[:_MOST_HOLES])
        more = f"\nand {len(table.holes) - _MOST_HOLES:,} more" if len(table.holes) > _MOST_HOLES else ""
        yield f"<details><summary>{len(table.holes):,} {title}</summary><pre>{escape(listed + more)}</pre></details>"

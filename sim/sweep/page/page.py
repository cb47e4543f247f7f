"""The page: filters, plots, the points as a table, and how to make it again."""

import json
from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from typing import Any

from plotly.offline import get_plotlyjs

from ctm.sim.report.page.frame import framed
from ctm.sim.report.page.page import embed
from ctm.sim.sweep.columns import Row
from ctm.sim.sweep.measuring import OK
from ctm.sim.sweep.page import plots
from ctm.sim.sweep.settings import SETTINGS

_MOST_ROWS = 2000
"""Rows of the table on the page."""
_COORDINATES = ("job", "size", "engine", "status", "preset")
_STYLE = """
.filters { display: flex; flex-wrap: wrap; gap: 0.5em 1em; align-items: end; }
.filters label { display: grid; font-size: 0.875em; color: var(--soft); min-width: 0; }
.filters select, .filters button { font: inherit; color: var(--text); background: var(--back); padding: 0.2em 0.4em;
  border: 1px solid var(--edge); border-radius: 4px; max-width: min(20em, 80vw); }
th { border-bottom: 1px solid var(--edge); } td.text { white-space: nowrap; }
[hidden] { display: none; }
"""


def page_of(name: str, rows: Sequence[Row], *, command: str) -> str:
    """The page of a table as HTML; `command` made it."""
    facts = _facts(rows)
    elements = [_head(rows), _filters(facts), *_plots(rows), _table(rows, facts), _reproduce(rows, command)]
    script = resources.files("ctm.sim.sweep.page").joinpath("filters.js").read_text()
    data = json.dumps({row["number"]: fact for row, fact in zip(rows, facts, strict=True)}).replace("</", "<\\/")
    script = f"\nconst FACTS = {data};\n{script}"
    return framed(name, "\n".join(elements), style=_STYLE, library=get_plotlyjs(), script=script)


def varying(rows: Sequence[Row]) -> list[str]:
    """Settings that are not the same in all rows."""
    return [name for name in SETTINGS if len({row[name] for row in rows}) > 1]


def _facts(rows: Sequence[Row]) -> list[dict[str, str]]:
    """By what each row can be filtered, in words."""
    sets = [name for name in (rows[0] if rows else ()) if name.startswith("sets.")]
    settings = varying(rows)
    found = []
    for row in rows:
        fact = {name: str(row[name]) for name in ("job", "engine", "status", "preset", *settings)}
        fact["size"] = f"{row['height']} x {row['width']}"
        fact |= {name: str(row[name]) for name in sets if row[name] is not None}
        found.append(fact)
    return found


def _head(rows: Sequence[Row]) -> str:
    failed = sum(row["status"] != OK for row in rows)
    facts = [_counted(len(rows), "point"), _counted(len({row["configuration"] for row in rows}), "configuration")]
    facts += [_counted(len({row["job"] for row in rows}), "job")]
    facts += [_counted(len({(row["height"], row["width"]) for row in rows}), "size")]
    facts += [f"{_counted(failed, 'point')} failed"] if failed else []
    return f'<p class="soft">{escape("; ".join(facts))}</p>'


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _filters(facts: Sequence[Mapping[str, str]]) -> str:
    names = [*_COORDINATES, *dict.fromkeys(name for fact in facts for name in fact if name not in _COORDINATES)]
    cells = []
    for name in names:
        values = list(dict.fromkeys(fact[name] for fact in facts if name in fact))
        if len(values) > 1:
            options = "".join(f"<option>{escape(value)}</option>" for value in sorted(values, key=_order))
            cells.append(
                f'<label>{escape(name)}<select data-fact="{escape(name)}"><option value="">all</option>{options}'
                "</select></label>"
            )
    if not cells:
        return ""
    return (
        f'<div class="filters">{"".join(cells)}<button type="button" id="all">all points</button></div>'
        '<p class="soft" role="status" id="shown"></p>'
    )


def _order(text: str) -> tuple[int, str]:
    """Numbers as numbers, before words."""
    return (int(text), "") if text.isdecimal() else (1 << 62, text)


def _plots(rows: Sequence[Row]) -> list[str]:
    elements: tuple[tuple[str, str, Any, str], ...] = (
        ("pareto", "Cycles and LUT4", plots.pareto(rows), "No area is known: write area = true in the sweep."),
        ("speed-up", "Speed-up by cores", plots.speed_up(rows), "No points differ in array.cores alone."),
        ("roofline", "Roofline", plots.roofline(rows), "No point has cycles: engine rtl counts them."),
    )
    cells = [
        f"<div><h2>{title}</h2>{f'<p class=soft>{missing}</p>' if figure is None else embed(figure, name)}</div>"
        for name, title, figure, missing in elements
    ]
    bars = plots.stalls(rows)
    stalls = "" if bars is None else f"<h2>What cores waited for</h2>{embed(bars, 'stalls')}"
    return ['<div class="columns">', *cells, "</div>", stalls]


def _table(rows: Sequence[Row], facts: Sequence[Mapping[str, str]]) -> str:
    names = ["number", "status", "cycles", "instructions", "operations_per_cycle", "alu_share", "lut4", "host_seconds"]
    settings = [name for name in dict.fromkeys(name for fact in facts for name in fact) if name != "status"]
    head = "".join(f'<th class="number">{escape(name)}' for name in names)
    head += "".join(f"<th>{escape(name)}" for name in settings)
    body = []
    for row, fact in zip(rows[:_MOST_ROWS], facts, strict=False):
        cells = "".join(f'<td class="number">{_shown(row[name])}' for name in names)
        cells += "".join(f'<td class="text">{escape(fact.get(name, ""))}' for name in settings)
        title = f' title="{escape(row["reason"])}"' if row["reason"] else ""
        body.append(f'<tr data-row="{row["number"]}"{title}>{cells}')
    note = "" if len(rows) <= _MOST_ROWS else f'<p class="soft">The first {_MOST_ROWS:,} of {len(rows):,}.</p>'
    return f'<h2>Points</h2>{note}<div class="wide"><table><tr>{head}{"".join(body)}</table></div>'


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return "" if value is None else f"{value:,}" if isinstance(value, int) else escape(str(value))


def _reproduce(rows: Sequence[Row], command: str) -> str:
    made = sorted({f"ctm {row['version']}, sources {row['sources']}, Python {row['python']}" for row in rows})
    return f'<h2>Make it again</h2><pre>{escape(command)}</pre><p class="soft">{escape("; ".join(made))}</p>'

"""The plots of a sweep, of the report's looks.

Each point of a plot has the number of its row as `customdata`, by which the page's filters find it.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.colors import qualitative

from ctm.rtl.dpp.watch import Wait
from ctm.rtl.isa.host import COUNTERS
from ctm.sim.report.page.charts import COLOURS, ISSUE_COLOUR, STANDOFF, chart, log_ticks
from ctm.sim.sweep.columns import Row
from ctm.sim.sweep.settings import SETTINGS

_GREY = "#888"
_PALETTE = (*qualitative.D3, *qualitative.Set2)
_STALL_COLOURS = {
    "lookups": COLOURS[Wait.FETCH], "loading": COLOURS[Wait.CODE], "requests": COLOURS[Wait.REQUEST],
    "latency": COLOURS[Wait.RESULT], "ends": COLOURS[Wait.START],
}  # fmt: skip
_ROW_HEIGHT = 18
_MOST_BARS = 400
"""Points whose stall causes are shown; more are not told apart."""
FRONT = "front"
"""`meta` of the trace that is the Pareto front of the traces before it; the page updates it for the visible points."""


def jobs_of(rows: Iterable[Row]) -> list[str]:
    """Names of jobs with their sizes, each once."""
    return list(dict.fromkeys(map(job_of, rows)))


def job_of(row: Row) -> str:
    """Name and size of a row's job."""
    return f"{row['job']} {row['height']} x {row['width']}"


def _colours(rows: Iterable[Row]) -> dict[str, str]:
    return {job: _PALETTE[index % len(_PALETTE)] for index, job in enumerate(jobs_of(rows))}


def _label(row: Row) -> str:
    return f"{row['configuration']}<br>{job_of(row)}, {row['engine']}"


def _scatter(rows: Sequence[Row], x: Sequence[float], y: Sequence[float], hover: str, **more: Any) -> Any:
    """Points with the text at the pointer."""
    return go.Scatter(
        x=list(x), y=list(y), customdata=[row["number"] for row in rows], text=[_label(row) for row in rows],
        hovertemplate=f"%{{text}}<br>{hover}<extra></extra>", **more,
    )  # fmt: skip


def pareto(rows: Sequence[Row]) -> Any | None:
    """Cycles over LUT4, with the front: machines of which no other is both smaller and faster; None: no area known."""
    known = [row for row in rows if row["cycles"] is not None and row["lut4"] is not None]
    if not known:
        return None
    traces = []
    for job, colour in _colours(known).items():
        own = [row for row in known if job_of(row) == job]
        x, y = [row["lut4"] for row in own], [row["cycles"] for row in own]
        hover = "%{x:,} LUT4, %{y:,} cycles"
        traces.append(
            _scatter(own, x, y, hover, name=job, mode="markers", legendgroup=job, marker={"color": colour, "size": 9})
        )
        best = front(x, y)
        traces.append(
            _scatter(
                [own[index] for index in best], [x[index] for index in best], [y[index] for index in best], hover,
                name=f"{job}, front", mode="lines", legendgroup=job, showlegend=False, meta=FRONT,
                line={"color": colour, "width": 1, "shape": "hv"},
            )
        )  # fmt: skip
    figure = chart(traces, height=420, showlegend=True)
    figure.update_xaxes(title="LUT4")
    figure.update_yaxes(title="cycles", type="log", dtick=log_ticks(row["cycles"] for row in known))
    return figure


def front(x: Sequence[float], y: Sequence[float]) -> list[int]:
    """Indices of the points of which no other is at most as large in both, in the order of x."""
    found: list[int] = []
    for index in sorted(range(len(x)), key=lambda each: (x[each], y[each])):
        if not found or y[index] < y[found[-1]]:
            found.append(index)
    return found


def speed_up(rows: Sequence[Row]) -> Any | None:
    """How many times as fast more cores are, of points that differ in nothing else; None: there are none."""
    known = [row for row in rows if row["cycles"] is not None]
    others = [name for name in SETTINGS if name != "array.cores"]
    alike: dict[tuple[Any, ...], list[Row]] = {}
    for row in known:
        alike.setdefault((job_of(row), row["engine"], *(row[name] for name in others)), []).append(row)
    lines = [sorted(own, key=lambda row: row["array.cores"]) for own in alike.values() if len(own) > 1]
    if not lines:
        return None
    colours, traces, named = _colours(known), [], set()
    for own in lines:
        job, least = job_of(own[0]), own[0]
        y = [least["cycles"] / row["cycles"] * least["array.cores"] for row in own]
        traces.append(
            _scatter(
                own, [row["array.cores"] for row in own], y, "%{x} cores: %{y:.2f} times one core",
                name=job, legendgroup=job, showlegend=job not in named, mode="lines+markers",
                line={"color": colours[job], "width": 1}, marker={"color": colours[job], "size": 7},
            )
        )  # fmt: skip
        named.add(job)
    counts = sorted({row["array.cores"] for own in lines for row in own})
    ideal = go.Scatter(x=counts, y=counts, name="ideal", mode="lines", line={"color": _GREY, "dash": "dot", "width": 1})
    figure = chart([ideal, *traces], height=420, showlegend=True)
    figure.update_xaxes(title="cores", type="log", tickvals=counts)
    figure.update_yaxes(title="times as fast", type="log", tickvals=counts)
    return figure


def _peak(row: Row) -> float:
    """ALU lane instructions a cycle at most."""
    lanes: int = row["array.lanes"]
    return float(row["array.cores"] * (row["array.rate"] or lanes))


def roofline(rows: Sequence[Row]) -> Any | None:
    """What each point did for a byte and in a cycle, below what its machine can do; None: no cycles."""
    known = [row for row in rows if row["operations_per_cycle"] and row["bytes_moved"]]
    if not known:
        return None
    x = {row["number"]: row["counter.lanes_alu"] / row["bytes_moved"] for row in known}
    roofs = dict.fromkeys((_peak(row), row["memory.bytes_per_cycle"]) for row in known)
    ridges = [peak / width for peak, width in roofs]
    grid = np.geomspace(min(*x.values(), *ridges) / 4, max(*x.values(), *ridges) * 4, 64)
    traces = [
        go.Scatter(
            x=grid, y=np.minimum(peak, grid * width), name=f"{peak:g} lanes, {width} bytes a cycle", mode="lines",
            line={"color": _GREY, "width": 1}, showlegend=False, hoverinfo="name",
        )
        for peak, width in roofs
    ]  # fmt: skip
    for job, colour in _colours(known).items():
        own = [row for row in known if job_of(row) == job]
        traces.append(
            _scatter(
                own, [x[row["number"]] for row in own], [row["operations_per_cycle"] for row in own],
                "%{y:.3g} ALU lane instructions a cycle, %{x:.3g} a byte", name=job, mode="markers",
                marker={"color": colour, "size": 8},
            )
        )  # fmt: skip
    figure = chart(traces, height=420, showlegend=True)
    figure.update_xaxes(title="ALU lane instructions per byte moved", type="log", dtick=log_ticks(grid))
    shown = [
        *(row["operations_per_cycle"] for row in known),
        *(each for trace in traces[: len(roofs)] for each in trace.y),
    ]
    figure.update_yaxes(title="ALU lane instructions a cycle", type="log", dtick=log_ticks(shown))
    return figure


def stalls(rows: Sequence[Row]) -> Any | None:
    """What the cores of each point did: shares of their cycles, stacked; None: no cycles."""
    known = [row for row in rows if row["alu_share"] is not None][:_MOST_BARS]
    if not known:
        return None
    names = [f"{row['number']}" for row in known]
    causes = [name.removeprefix("stall_") for name in map(str.lower, COUNTERS) if name.startswith("stall_")]
    columns = {"ALU issue": "alu_share", **{cause: f"stall_share.{cause}" for cause in causes}}
    traces = [
        go.Bar(
            y=names, x=[row[column] or 0.0 for row in known], name=name, orientation="h",
            customdata=[row["number"] for row in known], text=[_label(row) for row in known], textposition="none",
            marker={"color": _STALL_COLOURS.get(name, ISSUE_COLOUR), "line": {"width": 0}},
            hovertemplate=f"%{{text}}<br>{name}: %{{x:.1%}}<extra></extra>",
        )
        for name, column in columns.items()
    ]  # fmt: skip
    figure = chart(traces, height=140 + _ROW_HEIGHT * len(known), barmode="stack", bargap=0.15, showlegend=True)
    figure.update_layout(legend_traceorder="normal")
    figure.update_xaxes(title="share of the cycles of a core", tickformat=".0%", range=[0, 1])
    figure.update_yaxes(title="point", autorange="reversed", type="category", ticklabelstandoff=STANDOFF)
    return figure

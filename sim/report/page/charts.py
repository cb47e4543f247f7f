"""The charts of a report, by plotly."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from ctm.rtl.config import MachineConfig
from ctm.rtl.dpp.watch import Wait
from ctm.sim.engines.engine import Report
from ctm.sim.engines.seen import TAKEN, WAITS_FOR, WINDOW_CYCLES, Seen
from ctm.sim.profile.figures import WAITS
from ctm.sim.profile.profile import ProgramProfile
from ctm.sim.report.timeline import Event

_GREY, _GRID = "#888", "rgba(128, 128, 128, 0.25)"
"""Both can be read on a light page and on a dark one."""
COLOURS = {
    Wait.START: "#9ca3af", Wait.RESULT: "#3b82f6", Wait.CODE: "#a78bfa", Wait.CONSTANT: "#f472b6",
    Wait.FETCH: "#f59e0b", Wait.REQUEST: "#ef4444", Wait.PORT: "#22d3ee", Wait.OUTPUT: "#92612a",
}  # fmt: skip
ISSUE_COLOUR = "#10b981"
_SIDE = 512
"""Elements of a picture along an axis; of larger outputs every second one is shown, or every third, and so on."""
_PICTURE, _HEIGHTS, _MARGIN = 480, (120, 480), 20
"""A picture's width and least and greatest height, and the space around it, in pixels."""
_BARS, STANDOFF = 4000, 6
"""Waits that are shown; the space between an axis and the names at it, in pixels."""
_POINTS = 2000
_FEW_DECADES = 100


def chart(traces: Iterable[Any], *, height: int, **layout: Any) -> Any:
    """A figure of the report's looks."""
    figure = go.Figure(list(traces))
    axes = {"gridcolor": _GRID, "zerolinecolor": _GRID, "automargin": True}
    figure.update_layout(
        height=height, margin={"l": 8, "r": 8, "t": 8, "b": 8}, paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)", font={"color": _GREY, "size": 12},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0},
        **layout,
    )  # fmt: skip
    figure.update_xaxes(**axes)
    figure.update_yaxes(**axes)
    return figure


def log_ticks(values: Iterable[float]) -> int | str:
    """Distance of the ticks of a logarithmic axis: powers of ten, or with 2 and 5 between them where these are few."""
    found = list(values)
    return 1 if max(found) > _FEW_DECADES * min(found) else "D2"


def picture(array: npt.NDArray[Any]) -> tuple[Any, int]:
    """An output as a picture, false colour for one channel; and the distance of the elements that are shown.

    Floats from 0 to 1, and all whole numbers of the format, are shades.
    """
    step = max(1, -(-max(array.shape[:2]) // _SIDE))
    found = array[::step, ::step]
    full = np.iinfo(found.dtype).max if found.dtype.kind == "u" else 1
    shown = np.asarray(found, np.float32)
    height, width = shown.shape[:2]
    rows, columns = np.arange(height) * step, np.arange(width) * step
    if shown.shape[2] < 3:
        trace: Any = go.Heatmap(
            z=shown[..., 0], x=columns, y=rows, colorscale="Viridis", colorbar={"thickness": 10},
            hovertemplate="(%{x}, %{y}): %{z}<extra></extra>",
        )  # fmt: skip
    else:
        with np.errstate(invalid="ignore"):
            colours = np.nan_to_num(np.clip(shown[..., :3] / full, 0, 1) * 255).astype(np.uint8)
        texts = np.moveaxis(shown, -1, 0)
        values = ", ".join(f"%{{customdata[{channel}]:.6g}}" for channel in range(len(texts)))
        trace = go.Image(
            z=colours, dx=step, dy=step, customdata=shown, hovertemplate=f"(%{{x}}, %{{y}}): {values}<extra></extra>"
        )
    tall = int(np.clip(_PICTURE * height / width, *_HEIGHTS)) + 2 * _MARGIN
    # The page makes it as high as the picture is on its screen.
    figure = chart([trace], height=tall, meta={"aspect": height / width})
    figure.update_xaxes(constrain="domain", showgrid=False)
    figure.update_yaxes(scaleanchor="x", autorange="reversed", constrain="domain", showgrid=False)
    return figure, step


def waits(profile: ProgramProfile) -> Any:
    """What the wavefronts of a program did, in all: a bar for each cause."""
    figures = profile.figures
    names = ["issue", *(wait.name.lower() for wait in WAITS)]
    counts = [figures.issues, *(figures.waits_for(wait) for wait in WAITS)]
    colours = [ISSUE_COLOUR, *(COLOURS[wait] for wait in WAITS)]
    bars = go.Bar(
        x=counts, y=names, orientation="h", marker={"color": colours},
        hovertemplate="%{y}: %{x:,} cycles of wavefronts<extra></extra>",
    )  # fmt: skip
    figure = chart([bars], height=300, showlegend=False)
    figure.update_xaxes(title="cycles of wavefronts")
    figure.update_yaxes(autorange="reversed", ticklabelstandoff=STANDOFF)
    return figure


def _stepped(cycles: npt.NDArray[Any], values: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """A curve of steps with at most `_POINTS` points: the mean of each stretch."""
    if len(cycles) <= _POINTS:
        return cycles, values
    edges = np.linspace(cycles[0], cycles[-1], _POINTS + 1)
    durations = np.diff(cycles, append=cycles[-1])
    whole = np.concatenate([[0.0], np.cumsum(values[:-1] * durations[:-1])])
    return edges[:-1], np.diff(np.interp(edges, cycles, whole)) / np.diff(edges)


def occupancy(seen: Seen, config: MachineConfig) -> Any:
    """Wavefronts of each core over time."""
    traces = []
    for core in range(config.array.cores):
        own = seen.events[seen.events["core"] == core]
        busy: dict[int, bool] = {}
        cycles, counts = [0], [0]
        for event in own[(own["kind"] == TAKEN) | (own["kind"] == WAITS_FOR)]:
            wave_slot = int(event["slot"])
            is_free = event["kind"] == WAITS_FOR and event["what"] == Wait.FREE.value
            if busy.get(wave_slot, False) == is_free:
                busy[wave_slot] = not is_free
                cycles.append(int(event["cycle"]))
                counts.append(sum(busy.values()))
        x, y = _stepped(np.array(cycles), np.array(counts, float))
        traces.append(go.Scatter(x=x, y=y, name=f"core {core}", line={"shape": "hv", "width": 1}))
    figure = chart(traces, height=240, showlegend=config.array.cores > 1)
    figure.update_xaxes(title="cycle")
    figure.update_yaxes(title="wavefronts", range=[0, config.array.threads + 0.5])
    return figure


def traffic(seen: Seen, config: MachineConfig) -> Any:
    """Bytes a cycle of each memory port over time."""
    beat = config.memory.data_bits // 8
    cycles = np.arange(len(seen.traffic)) * WINDOW_CYCLES
    traces = []
    for number, port in enumerate(config.memory.ports):
        for direction in ("read", "written"):
            beats = seen.traffic[direction][:, number]
            if beats.any():
                x, y = _stepped(cycles, beats.astype(float) * beat / WINDOW_CYCLES)
                traces.append(go.Scatter(x=x, y=y, name=f"{port}, {direction}", line={"shape": "hv", "width": 1}))
    figure = chart(traces, height=260, showlegend=True)
    figure.update_xaxes(title="cycle")
    figure.update_yaxes(title="bytes a cycle", rangemode="tozero")
    return figure


def first_waits(events: Iterable[Event]) -> tuple[list[Event], int]:
    """The waits of a timeline, the first ones that can be shown; and how many there are."""
    found = sorted((event for event in events if event.get("cat") == "wait"), key=lambda each: each["ts"])
    return found[:_BARS], len(found)


def timeline(slices: Sequence[Event], *, cores: int) -> Any:
    """What the wavefront of each wave slot waited for, over time; `slices` are waits."""

    def track(event: Event) -> str:
        return f"core {event['pid']}, wave slot {event['tid']}" if cores > 1 else f"wave slot {event['tid']}"

    causes: Mapping[str, Wait] = {wait.name.lower(): wait for wait in WAITS}
    traces = []
    for name, wait in causes.items():
        own = [each for each in slices if each["name"] == name]
        if own:
            traces.append(go.Bar(
                y=[track(each) for each in own], base=[each["ts"] for each in own],
                x=[each["dur"] for each in own], orientation="h", name=name,
                marker={"color": COLOURS[wait], "line": {"width": 0}},
                hovertemplate=f"{name}: %{{x}} cycles from %{{base}}<extra></extra>",
            ))  # fmt: skip
    tracks = {(each["pid"], each["tid"]) for each in slices}
    figure = chart(traces, height=110 + 22 * len(tracks), barmode="overlay", bargap=0.2, showlegend=True)
    figure.update_xaxes(title="cycle")
    figure.update_yaxes(autorange="reversed", type="category", ticklabelstandoff=STANDOFF)
    return figure


def roofline(report: Report, config: MachineConfig) -> Any:
    """What the machine can do for a program that moves so many bytes for an operation, and what this run did.

    Bytes are those of the port and direction that moved most: all of them move at once.
    """
    array, memory = config.array, config.memory
    beats = {name: count for name, count in report.counters.items() if name.endswith("_beats")}
    moved = max(1, *beats.values()) * memory.data_bits // 8
    operations, cycles = max(1, report.counters["lanes_alu"]), max(1, report.cycles or 0)
    peak = array.cores * array.wavefront_lanes / array.cycles_per_wavefront
    own = operations / moved
    x = np.geomspace(min(own, peak / memory.bytes_per_cycle) / 8, max(own, peak / memory.bytes_per_cycle) * 8, 64)
    roof = go.Scatter(x=x, y=np.minimum(peak, x * memory.bytes_per_cycle), name="the machine", line={"color": _GREY})
    run = go.Scatter(
        x=[own], y=[operations / cycles], name="this run", mode="markers", marker={"size": 12, "color": "#ef4444"},
        hovertemplate="%{y:.3g} lane instructions a cycle, %{x:.3g} a byte<extra></extra>",
    )  # fmt: skip
    figure = chart([roof, run], height=320, showlegend=True)
    figure.update_xaxes(type="log", dtick=log_ticks(x), title="ALU lane instructions per byte moved")
    figure.update_yaxes(type="log", dtick=log_ticks([*roof.y, *run.y]), title="ALU lane instructions a cycle")
    return figure

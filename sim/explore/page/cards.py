"""What a run says: cycles and sentences, the line that is chosen with its stalls, and outputs as pictures."""

from collections.abc import Callable, Mapping
from typing import Any

from nicegui import ui

from ctm.sim.explore.request import Cost, Picture, Run
from ctm.sim.profile.figures import CAUSES

_MOST_EXPENSIVE = 8
_CAUSES = {wait.name.lower(): text for wait, text in CAUSES.items()}


def show_summary(run: Run | None, note: str) -> None:
    """Cycles, instructions, how much ran, and sentences; `note` says why something is not there."""
    if run is not None:
        whole = run.whole
        cycles = "" if run.cycles is None else f"{run.cycles:,} cycles, "
        lanes = f"; {whole.efficiency:.0%} of the lanes that are covered work" if run.lines or run.units else ""
        ui.label(f"{cycles}{run.instructions:,} instructions{lanes}").classes("ctm-text").mark("cycles")
        ui.label(f"{run.extent}, engine {run.engine}").classes("ctm-soft ctm-text")
        for sentence in run.advice:
            ui.label(sentence).classes("ctm-text")
    if note:
        ui.label(note).classes("ctm-soft ctm-text")


def show_line(run: Run | None, line: int, text: str) -> None:
    """What one line issued, and what wavefronts waited for in front of it."""
    if not line:
        ui.label("Click on a line, on either side, to see what it waits for.").classes("ctm-soft")
        return
    ui.label(text).classes("ctm-text ctm-mono")
    cost = None if run is None else run.lines.get(line)
    if run is None or cost is None:
        ui.label("It has no instructions that ran." if run else "Nothing has run yet.").classes("ctm-soft")
        return
    whole = sum(each.cost for each in run.lines.values()) or 1
    share = f"{cost.cost / whole:.1%} of all {'cycles of wavefronts' if run.cycles is not None else 'issues'}"
    ui.label(f"{share}; {cost.issues:,} issues; {cost.efficiency:.0%} of the lanes work").classes("ctm-text")
    if run.cycles is None:
        ui.label("What it waits for is known where cycles are counted.").classes("ctm-soft")
    elif cost.waited:
        _show_waits(cost)
    else:
        ui.label("It waits for nothing.").classes("ctm-soft")


def _show_waits(cost: Cost) -> None:
    waited = sorted(cost.waited.items(), key=lambda each: -each[1])
    ui.table(
        columns=[
            {"name": "cause", "label": "waits for", "field": "cause", "align": "left"},
            {"name": "cycles", "label": "cycles", "field": "cycles", "align": "right"},
            {"name": "share", "label": "of the line", "field": "share", "align": "right"},
            {"name": "what", "label": "", "field": "what", "align": "left"},
        ],
        rows=[
            {
                "cause": cause,
                "cycles": f"{count:,}",
                "share": f"{count / cost.cost:.0%}",
                "what": _CAUSES.get(cause, ""),
            }
            for cause, count in waited
        ],
        row_key="cause",
    ).props("flat dense hide-pagination wrap-cells").classes("ctm-table w-full").mark("stalls")


def show_expensive(run: Run | None, lines: list[str], chosen: Callable[[int], None]) -> None:
    """The lines that cost most; a click chooses one."""
    if run is None or not run.lines:
        ui.label("Lines that cost most stand here when the program has run.").classes("ctm-soft")
        return
    whole = sum(each.cost for each in run.lines.values()) or 1
    waits = {"name": "waits", "label": "waits most for", "field": "waits", "align": "left"}
    most = sorted(run.lines.items(), key=lambda each: -each[1].cost)[:_MOST_EXPENSIVE]
    table = (
        ui.table(
            columns=[
                {"name": "line", "label": "line", "field": "line", "align": "right"},
                {"name": "share", "label": "share", "field": "share", "align": "right"},
                *([waits] if run.cycles is not None else []),
                {"name": "source", "label": "source", "field": "source", "align": "left"},
            ],
            rows=[
                {
                    "line": line,
                    "share": f"{cost.cost / whole:.1%}",
                    "waits": max(cost.waited, key=lambda each: cost.waited[each], default="") if cost.waited else "",
                    "source": lines[line - 1].strip() if line <= len(lines) else "",
                }
                for line, cost in most
            ],
            row_key="line",
        )
        .props("flat dense hide-pagination :rows-per-page-options='[0]'")
        .classes("ctm-table ctm-code w-full cursor-pointer")
    )
    table.on("rowClick", lambda event: chosen(_line_of(event.args)), [[], ["line"], None])


def _line_of(arguments: Any) -> int:
    row = arguments[1] if isinstance(arguments, list) and len(arguments) > 1 else {}
    line = row.get("line") if isinstance(row, Mapping) else None
    return line if isinstance(line, int) else 0


def show_pictures(pictures: tuple[Picture, ...], extent: str, note: str) -> None:
    """The outputs; `note` says why there are none, or not all of them."""
    if extent:
        ui.label(extent).classes("ctm-soft ctm-text")
    with ui.element("div").classes("ctm-pictures"):
        for each in pictures:
            told = f"{each.name}: {each.shape}{f'; {each.note}' if each.note else ''}"
            with ui.element("figure"):
                picture = ui.image(f"data:image/png;base64,{each.png}").classes("ctm-picture")
                picture.props(f'no-spinner no-transition alt="{each.name}"')
                ui.label(told).classes("ctm-soft ctm-text")
    if note:
        ui.label(note).classes("ctm-soft ctm-text")

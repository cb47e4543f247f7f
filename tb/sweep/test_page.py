"""The page: plots show what the table has, filters hide what they say, on a wide screen and on a telephone's."""

from html import escape
from pathlib import Path
from typing import Any

import pytest

from ctm.rtl.config import DEFAULT, settings_of
from ctm.rtl.isa.host import COUNTERS
from ctm.sim.sweep.columns import Row, columns_of
from ctm.sim.sweep.page.page import page_of, varying
from ctm.sim.sweep.page.plots import FRONT, front, pareto, roofline, speed_up, stalls
from ctm.tb.explore.browser import PHONE, WIDE, Scheme, chromium, shown
from ctm.tb.explore.legible import illegible

CHARTS = {"pareto", "speed-up", "roofline", "stalls"}
NAME = "a <sweep> & more.toml"


def row(number: int, job: str, cores: int, latency: int) -> Row:
    """A point of hardware, with figures that are made up."""
    cycles = 100_000 // cores + 100 * latency
    stalled = [name.lower() for name in COUNTERS if name.startswith("STALL_")]
    return {
        **dict.fromkeys(columns_of(["memory"])), **settings_of(DEFAULT),
        "number": number, "configuration": f"default array.cores={cores}", "preset": "default", "status": "ok",
        "sets.memory": "near" if latency < 50 else "far", "job": job, "height": 64, "width": 64, "engine": "rtl",
        "cycles": cycles, "instructions": 5000, "operations_per_cycle": 3.5 * cores / (1 + latency / 100),
        "bytes_moved": 4096, "counter.lanes_alu": 20_000, "alu_share": 0.5, "lut4": 60_000 * cores + 10 * latency,
        **{f"stall_share.{name.removeprefix('stall_')}": 0.08 for name in stalled},
        "host_seconds": 0.25, "array.cores": cores, "memory.latency": latency, "version": "0", "sources": "abc",
        "python": "3.11",
    }  # fmt: skip


def made_up() -> list[Row]:
    points = [(job, cores, latency) for job in ("saxpy", "</script>") for cores in (1, 2, 4) for latency in (20, 200)]
    rows = [row(number, *point) for number, point in enumerate(points)]
    rows[3] |= {"status": "watchdog", "reason": 'a "reason" <b>', "cycles": None, "alu_share": None, "lut4": None,
                "operations_per_cycle": None, "bytes_moved": None}  # fmt: skip
    return rows


def test_the_front_has_what_nothing_beats() -> None:
    assert front([3, 1, 2, 2, 5], [1, 9, 4, 3, 1]) == [1, 3, 0]
    assert front([], []) == []


def test_plots_have_every_point_with_figures_and_no_other() -> None:
    rows = made_up()
    wanted = {row["number"] for row in rows if row["cycles"] is not None}
    for plot in (pareto, roofline, stalls, speed_up):
        figure = plot(rows)
        assert figure is not None, plot
        shown = [number for trace in figure.data if trace.meta != FRONT for number in trace.customdata or ()]
        # A point with nothing beside it that differs in cores alone has no speed-up.
        assert set(shown) <= wanted and len(wanted - set(shown)) == 0, plot
    figure = speed_up(rows)
    assert figure is not None
    speeds = {trace.customdata[-1]: trace.y[-1] for trace in figure.data if trace.customdata}
    assert speeds[4] == rows[0]["cycles"] / rows[4]["cycles"]
    bare = [each | {"cycles": None, "operations_per_cycle": None, "alu_share": None} for each in rows]
    assert [plot(bare) for plot in (pareto, speed_up, roofline, stalls)] == [None] * 4


def test_the_page_names_its_points_and_loads_nothing() -> None:
    rows = made_up()
    page = page_of(NAME, rows, command="ctm sweep 'a <b>.toml'")
    assert page == page_of(NAME, rows, command="ctm sweep 'a <b>.toml'")
    assert varying(rows) == ["array.cores", "memory.latency"]
    body = page[page.index("<h1>") :]
    assert escape(NAME) in body and "12 points; " in body and "1 point failed" in body and "src=" not in body
    assert escape("ctm sweep 'a <b>.toml'") in body and "a &quot;reason&quot; &lt;b&gt;" in body
    assert page.count("</script>") == page.count("<script")


def points_of(page: Any, chart: str) -> list[int]:
    """Numbers of the points that a chart draws, without fronts."""
    script = """id => document.getElementById(id).data.filter(each => each.customdata && each.meta !== "front")
        .flatMap(each => each.customdata)"""
    return sorted(set(page.evaluate(script, chart)))


@pytest.mark.skipif(chromium() is None, reason="there is no Chromium: install it, or name it with CHROMIUM")
@pytest.mark.parametrize(("width", "scheme"), [(PHONE, "dark"), (WIDE, "light")])
def test_filters_hide_points_in_plots_and_table(tmp_path: Path, width: int, scheme: Scheme) -> None:
    rows = made_up()
    file = tmp_path / "page.html"
    file.write_text(page_of(NAME, rows, command="ctm sweep"))
    with shown(file, width, scheme, charts=4) as page:
        assert set(page.evaluate("[...document.querySelectorAll('.plotly-graph-div')].map(each => each.id)")) == CHARTS
        assert illegible(page) == {}
        everything = {chart: points_of(page, chart) for chart in CHARTS}
        page.select_option("select[data-fact='array.cores']", "2")
        page.select_option("select[data-fact='job']", "saxpy")
        page.wait_for_function("() => document.getElementById('shown').textContent === '2 of 12 points are shown'")
        wanted = [each["number"] for each in rows if each["array.cores"] == 2 and each["job"] == "saxpy"]
        assert wanted == [2, 3]
        visible = page.locator("tr[data-row]:visible").evaluate_all("all => all.map(each => +each.dataset.row)")
        assert visible == wanted
        for chart in CHARTS:
            # Point 3 has failed, and has no figures.
            assert points_of(page, chart) == [2], chart
        fronts = page.evaluate("document.getElementById('pareto').data.filter(each => each.meta === 'front')"
                               ".flatMap(each => each.customdata)")  # fmt: skip
        assert fronts == [2]
        page.click("#all")
        assert {chart: points_of(page, chart) for chart in CHARTS} == everything


def test_a_page_of_one_point_has_no_filters() -> None:
    page = page_of(NAME, made_up()[:1], command="ctm sweep")
    body = page[page.index("<h1>") : page.index("<h2>Points")]
    assert "<select" not in body and "No points differ in array.cores alone." in body

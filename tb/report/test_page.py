"""The page of a run: it has what was counted, and it needs nothing but itself."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from ctm.examples.catalogue import job
from ctm.sim.compiled.tools.package import Package
from ctm.sim.profile.profile import profiles
from ctm.sim.report.page import charts
from ctm.sim.report.page.page import page_of
from ctm.tb.cli.invocation import ctm, error_line, process
from ctm.tb.draws.recorded import make_job
from ctm.tb.report.ran import ran


class Reader(HTMLParser):
    """Collects the text of a page outside of scripts and styles, by the class of what it is in; and what it loads."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.texts: dict[str, list[str]] = {}
        self.charts: set[str] = set()
        self._classes: list[str] = []
        self._is_code = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.loads += [values[name] for name in ("src", "href") if name in values]
        self._is_code = tag in ("script", "style")
        if tag == "span":
            self._classes.append(values.get("class", ""))
        if "plotly-graph-div" in values.get("class", ""):
            self.charts.add(values["id"])

    def handle_endtag(self, tag: str) -> None:
        self._is_code = False
        if tag == "span":
            self._classes.pop()

    def handle_data(self, data: str) -> None:
        if not self._is_code and data.strip():
            self.texts.setdefault(self._classes[-1] if self._classes else "", []).append(data.strip())


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    return reader


@pytest.mark.slow
def test_a_page_has_the_run_and_loads_nothing() -> None:
    run = ran("rtl")
    page = page_of(run)
    assert page == page_of(run)
    found = read(page)
    assert found.loads == []
    assert found.charts == {"picture-0", "waits-0", "occupancy", "traffic", "roofline", "timeline"}
    text = " ".join(found.texts[""])
    assert "a <run>" in text and "ctm run 'a b.toml'" in text
    assert f"{run.report.cycles:,} cycles" in text and f"{run.report.counters['input_hits']:,}" in text
    (profile,) = profiles(run.seen, run.programs)
    shares = [f"{each.cost / profile.figures.cost:.1%}" for each in profile.lines.values()]
    assert found.texts["share"] == shares and len(shares) == 3
    source = job("saxpy").with_name("saxpy.s").read_text().splitlines()
    assert all(line.strip() in text for line in source)


def test_a_page_without_times_has_no_charts_of_them() -> None:
    found = read(page_of(ran("golden")))
    assert found.charts == {"picture-0"}
    assert found.texts["share"] == ["33.3%"] * 3


@pytest.mark.parametrize(("kind", "full"), [(np.uint8, 255), (np.uint16, 65535), (np.float32, 1)])
def test_whole_numbers_are_shades_up_to_the_largest(kind: type[np.generic], full: int) -> None:
    values = (np.arange(4 * 5 * 4).reshape(4, 5, 4) / 80 * full).astype(kind)
    figure, step = charts.picture(values)
    wanted = np.floor(values[..., :3].astype(np.float64) / full * 255)
    assert step == 1 and np.abs(np.asarray(figure.data[0].z) - wanted).max() <= 1


def test_the_command_writes_it_and_says_where(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    result = ctm("run", job("saxpy"), "--engine", "golden", "-o", tmp_path, "--report", page)
    assert result.exit_code == 0, result.output
    assert re.search(r"report: .*page\.html", result.output.replace("\n", ""))
    assert read(page.read_text()).charts == {"picture-0"}


def test_a_page_has_the_words_of_a_draw_s_streams(tmp_path: Path) -> None:
    draw = make_job("xfb_two", "sfn", tmp_path)
    result = ctm("run", draw, "-o", tmp_path / "out", "--report", tmp_path / "page.html")
    assert result.exit_code == 0, result.output
    words = np.load(tmp_path / "out" / "feedback0.npy")
    text = " ".join(read((tmp_path / "page.html").read_text()).texts[""])
    assert f"{len(words):,} words, as floats" in text
    assert all(f"{number:.6g}" in text for number in words.view(np.float32)[:8].tolist())
    few = ("--preset", "r700-draw", "--set", "pipeline.stages=vertex", "--waves", tmp_path / "a.fst")
    assert "the hardware does not draw with streams" in error_line("run", draw, *few)


def test_a_timeline_has_the_first_events_and_says_how_many_are_left_out(tmp_path: Path) -> None:
    run = ("run", job("saxpy"), "--engine", "golden", "-o", tmp_path)
    result = ctm(*run, "--timeline", tmp_path / "t.json", "--timeline-events", 10)
    assert result.exit_code == 0, result.output
    assert "1,526 events were left out" in result.stderr
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    assert sum(event.get("cat") == "instruction" for event in events) == 10


def test_what_cannot_be_written_or_drawn_is_said_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ("run", job("saxpy"), "--engine", "golden", "-o", tmp_path / "out")
    (tmp_path / "none").touch()
    assert "none" in error_line(*run, "--report", tmp_path / "none" / "page.html")
    assert "none" in error_line(*run, "--timeline", tmp_path / "none" / "t.json")
    assert "it needs --timeline FILE" in error_line(*run, "--timeline-events", 9)
    monkeypatch.setattr(Package, "is_installed", False)
    assert "[report]" in error_line(*run, "--report", tmp_path / "page.html")
    assert not (tmp_path / "out").exists()


def test_the_files_of_a_run_may_lie_in_a_folder_that_is_not_there_yet(tmp_path: Path) -> None:
    out = tmp_path / "out"
    files = {option: out / "seen" / name for option, name in (("--report", "page.html"), ("--timeline", "t.json"))}
    wanted = [word for pair in files.items() for word in pair]
    result = ctm("run", job("saxpy"), "--engine", "golden", "-o", out, *wanted)
    assert result.exit_code == 0, result.output
    assert all(file.exists() for file in files.values())


@pytest.mark.long
def test_a_run_that_fails_is_shown_as_far_as_it_went(tmp_path: Path) -> None:
    page, timeline = tmp_path / "page.html", tmp_path / "t.json"
    run = ("run", job("mandelbrot"), "--engine", "golden", "--watchdog", "20", "-o", tmp_path / "out")
    result = ctm(*run, "--report", page, "--timeline", timeline, "--profile")
    assert result.exit_code == 1 and "watchdog" in result.stderr.lower()
    assert "instructions issued" in result.stdout and not (tmp_path / "out").exists()
    assert json.loads(timeline.read_text())["traceEvents"] and "mandelbrot.s" in page.read_text()


@pytest.mark.parametrize(("option", "name"), [("--timeline", "t.json"), ("--report", "page.html")])
def test_a_full_disk_is_one_line_and_leaves_no_half_of_a_file(option: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    run = ("run", job("saxpy"), "--engine", "golden", "-o", tmp_path, option, path)
    ended = process(*run, most=100_000)
    assert (ended.returncode, ended.stderr) == (2, f"error: {path}: File too large\n")
    assert [file.name for file in tmp_path.iterdir()] == ["sum.npy"]

"""Progress of a run, where standard error is no terminal."""

import pytest

from ctm.sim.engines.engine import Report
from ctm.sim.report import progress
from ctm.sim.report.progress import run_progress


def standing() -> Report:
    return Report(cycles=1234567, instructions=89012, lane_instructions=0)


def test_a_run_whose_groups_go_on_says_so_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    lines = [None, "a line", None, None]
    with run_progress(64, 1 << 24) as run:
        run.standing, run.ask = standing, lambda: lines.pop(0)
        run.advance(16)
        for _ in range(4):
            run.advance(0)
    printed, told = capsys.readouterr()
    assert (printed, lines) == ("", [])
    first, second = told.splitlines()
    assert first == (
        "wavefronts are still running after 1,234,567 cycles, 89,012 instructions, and none has begun or ended "
        "for 0 s; a wavefront may execute 16,777,216 (--watchdog), --max-cycles limits cycles"
    )
    assert second == "a line"


def test_a_run_whose_groups_end_says_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with run_progress(None, 0) as run:
        run.standing = standing
        for _ in range(4):
            run.advance(4)
    assert capsys.readouterr() == ("", "")

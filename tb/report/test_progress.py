"""Progress of a run, where standard error is no terminal."""

from io import StringIO

import pytest
from rich.console import Console

from ctm import CommandBuffer, Device, assemble
from ctm.sim.engines.engine import Report
from ctm.sim.engines.fast.engine import AutoEngine
from ctm.sim.golden.dpp import pulse
from ctm.sim.report import progress
from ctm.sim.report.progress import RunProgress, run_progress


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


def test_an_engine_without_cycles_has_instructions_and_no_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    shown = StringIO()
    console = Console(file=shown, force_terminal=True, width=200)
    run = RunProgress(console, 64, 100)
    run.standing = lambda: Report(cycles=None, instructions=5_000, lane_instructions=0)
    run.advance(0)
    console.print(run.shown)
    assert "5,000 instructions; a wavefront may execute 100" in shown.getvalue()
    assert "still running" not in shown.getvalue()


@pytest.mark.parametrize("engine", ["golden", "auto"])
def test_the_golden_model_tells_of_a_batch_before_it_ends(monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    monkeypatch.setattr(pulse, "PERIOD", 0.0)
    monkeypatch.setattr(AutoEngine, "_make_core", lambda self: self._golden)
    told: list[tuple[int, int]] = []
    device = Device(engine, progress=lambda finished: told.append((finished, device.standing().instructions)))
    device.run(
        CommandBuffer()
        .set_inst_fmt(device.place(assemble("ALU r1 = MOV(r0)\nALU r1 = MOV(r0)\nOUT o0 = MOV(r1)")))
        .set_domain(0, 0, 1, 1)
        .start_program()
    )
    assert told == [(0, 1), (0, 2), (0, 3), (4, 3)]

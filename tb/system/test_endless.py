"""Programs without an end on the hardware, as a user meets them."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ctm.sim.cli.application import application
from ctm.sim.report import progress
from ctm.tb.jobs.folder import Folder, executable
from ctm.tb.lib.machines import options
from ctm.tb.r5xx.machine import flow, move

TOP = Path(__file__).parents[2]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """A job whose program never ends; the machine is compiled."""
    folder = Folder.make(tmp_path)
    assert (
        CliRunner().invoke(application(), ["run", str(folder.job), "--engine", "rtl", *options("r5xx")]).exit_code == 0
    )
    (tmp_path / "y.npy").unlink()
    (tmp_path / "scale.elf").write_bytes(executable([flow(inst={"jump_func": 0xFF}), move(0, 0, output=0)]))
    return folder


@pytest.mark.slow
def test_it_ends_soon_and_says_why(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.5)
    result = CliRunner().invoke(application(), ["run", str(folder.job), "--engine", "rtl", *options("r5xx"), "--json"])
    assert result.exit_code == 1
    first, second = result.stderr.splitlines()
    assert first.startswith("wavefronts are still running after ")
    assert "--watchdog" in first and "--max-cycles" in first
    assert "executed 16777216 instructions in the golden model; the hardware was stopped before; at pc 0" in second
    found = json.loads(result.stdout)
    assert (found["status"], found["error"]["pc"]) == ("watchdog", 0)
    assert 0 < found["instructions"] < 1 << 24


def test_a_signal_ends_it(folder: Folder) -> None:
    """While compiled code runs, which knows nothing of signals."""
    command = [sys.executable, "-c", "from ctm.sim.cli import main; main()", "run", str(folder.job), "--engine", "rtl"]
    command += options("r5xx")
    with subprocess.Popen(command, cwd=TOP, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(2.0)
        process.send_signal(signal.SIGTERM)
        start = time.monotonic()
        _, errors = process.communicate()
    assert time.monotonic() - start < 10
    assert (process.returncode, errors) == (143, "error: interrupted by SIGTERM; no file is half written\n")
    assert not (folder.path / "y.npy").exists()


def test_a_run_says_how_well_it_used_the_machine(folder: Folder) -> None:
    saxpy = str(TOP / "examples" / "saxpy" / "saxpy.toml")
    result = CliRunner().invoke(
        application(), ["run", saxpy, "--engine", "rtl", *options("r5xx"), "-o", str(folder.path), "--json"]
    )
    assert "ALU issue in " in result.stderr and "greatest stall: lookups, " in result.stderr
    assert "hits: input cache " in result.stderr
    used = json.loads(result.stdout)["utilisation"]
    assert 0 < used["alu_share"] < 1
    assert set(used) == {"alu_share", "stall_shares", "hit_rates"}

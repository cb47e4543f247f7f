"""The machine comes up from any state: nothing relies on what an FPGA has in its registers before the reset."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from ctm.rtl.config import PRESETS, TINY, MachineConfig
from ctm.sim.engines.rtl import RtlEngine
from ctm.sim.fault import CycleLimitError, MachineError
from ctm.sim.jobs.loading import load_job
from ctm.sim.jobs.recording import record
from ctm.sim.report.testbench import EXPECTED, HOST, replaying
from ctm.sim.runtime import CommandBuffer, Device
from ctm.sim.runtime.device import WATCHDOG
from ctm.tb.soak import comparison
from ctm.tb.soak.work import draw_work
from ctm.tb.system.any_state import four_states, library, watch, without_start

_SEEDS, _BATCH = 200, 50
SAXPY = Path(__file__).parents[2] / "examples" / "saxpy"
_SIZES = {"i = [0, 63]": "i = [0, 3]", "j = [0, 31]": "j = [0, 3]", "shape = [32, 64]": "shape = [4, 4]"}
"""Of the example, and of one that a slow simulator can run."""


def test_only_tables_keep_their_contents() -> None:
    text = (
        "module \\m\n  attribute \\init 1'1\n  wire \\x\n"
        '  cell $meminit_v2 $1\n    parameter \\MEMID "\\\\rom"\n    connect \\DATA 1\'1\n  end\n'
        '  cell $meminit_v2 $2\n    parameter \\MEMID "\\\\ram"\n    connect \\DATA 1\'1\n  end\n'
        '  cell $memwr_v2 $3\n    parameter \\MEMID "\\\\ram"\n    connect \\DATA 1\'1\n  end\n'
        "end\n"
    )
    left = without_start(text)
    assert "init 1" not in left and "$meminit_v2 $1" in left and "$memwr_v2 $3" in left
    assert "$meminit_v2 $2" not in left


@pytest.mark.long
def test_states_are_random_indeed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its reset the machine does not come up."""
    never_reset = library(TINY, monkeypatch, resets=False)
    monkeypatch.setattr(RtlEngine, "library", staticmethod(lambda config, tell=None: never_reset))
    failed = 0
    for _ in range(12):
        try:
            Device("rtl", TINY, max_cycles=20_000).run(CommandBuffer().wait_for_idle())
        except (MachineError, TimeoutError, CycleLimitError):
            failed += 1
    # The register that takes the reset is random, too, and so half of the machines have one.
    assert 0 < failed < 12


@pytest.fixture(scope="module", params=["default", "small"])
def anything(request: pytest.FixtureRequest) -> tuple[MachineConfig, Path]:
    """A machine that comes up in any state; the small one has slices of lines, and operands in block RAM."""
    config = PRESETS[request.param]
    with pytest.MonkeyPatch.context() as patch:
        return config, library(config, patch)


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, _SEEDS, _BATCH))
def test_random_work_from_random_states(
    anything: tuple[MachineConfig, Path], monkeypatch: pytest.MonkeyPatch, first: int
) -> None:
    config, compiled = anything
    monkeypatch.setattr(comparison.Hardware, "library", staticmethod(lambda config, tell=None: compiled))
    for seed in range(first, first + _BATCH):
        comparison.Comparison(draw_work(seed), config).run()


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A testbench that replays a short program, and the machine for four-state simulation."""
    if shutil.which("iverilog") is None:
        pytest.skip("Icarus is not installed")
    folder = tmp_path_factory.mktemp("unknown")
    shutil.copy(SAXPY / "saxpy.s", folder)
    text = (SAXPY / "saxpy.toml").read_text()
    for size, shorter in _SIZES.items():
        assert text.count(size) == 1
        text = text.replace(size, shorter)
    (folder / "job.toml").write_text(text)
    for seed, name in enumerate("xy"):
        np.save(folder / f"{name}.npy", np.random.default_rng(seed).random((4, 4, 4), np.float32))
    texts = replaying(record(load_job(folder / "job.toml"), TINY, watchdog=WATCHDOG), TINY, ["ctm.v"])
    for name, kind in (("ctm_tb.v", "testbench"), (HOST, "host"), (EXPECTED, "expected")):
        (folder / name).write_text(texts[kind])
    machine = four_states(TINY)
    (folder / "ctm.v").write_text(machine)
    (folder / "watch.v").write_text(watch(machine))
    return folder


def _simulate(folder: Path, testbench: str = "ctm_tb.v") -> str:
    """What Icarus prints."""
    sources = [testbench, "watch.v", "ctm.v"]
    subprocess.run(
        ["iverilog", "-g2005", "-s", "ctm_tb", "-s", "watch", "-o", "bench", *sources], cwd=folder, check=True
    )
    done = subprocess.run(["vvp", "-n", "bench"], cwd=folder, check=True, capture_output=True, text=True, timeout=300)
    return done.stdout


@pytest.mark.long
def test_no_output_is_unknown_after_the_reset(bench: Path) -> None:
    printed = _simulate(bench)
    assert "PASS: all" in printed
    assert "UNKNOWN" not in printed


@pytest.mark.long
def test_without_a_reset_outputs_are_unknown(bench: Path) -> None:
    text = (bench / "ctm_tb.v").read_text()
    assert text.count(".rst(rst)") == 1
    # The host waits for responses that never come.
    ended = text.replace(".rst(rst)", ".rst(1'b0)").replace(
        "module ctm_tb;", "module ctm_tb;\n  initial #1000 $finish;"
    )
    (bench / "never.v").write_text(ended)
    printed = _simulate(bench, "never.v")
    assert "UNKNOWN: s_axi_control_awready" in printed
    assert "PASS" not in printed

"""The testbench that `ctm verilog` writes replays a draw, and notices a pixel that is another one."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from ctm.rtl.config import DRAW_PRESET, PRESETS
from ctm.sim.engines.golden import GoldenEngine
from ctm.sim.jobs.loading import load_job
from ctm.sim.jobs.recording import record
from ctm.sim.report.hardware import write_hardware
from ctm.sim.report.testbench import EXPECTED
from ctm.sim.runtime.device import WATCHDOG
from ctm.tb.draws.recorded import make_job
from ctm.tb.r700.cosim.configuration import DRAW
from ctm.tb.report.verilated import verilated


def test_what_the_host_wrote_draws_again(tmp_path: Path) -> None:
    config = PRESETS[DRAW_PRESET]
    recording = record(load_job(make_job("depth_out", "sfn", tmp_path)), config, watchdog=WATCHDOG)
    engine = GoldenEngine(config, watchdog=WATCHDOG)
    bases = {"local": 0, "system": 1 << 31}
    for submission in recording.submissions:
        for region, first, words in submission.runs:
            engine.memory.write(bases[region] + 4 * first, words.tobytes())
        engine.execute(submission.address, submission.dwords)
    for region, words in recording.memory.items():
        np.testing.assert_array_equal(engine.memory.words(bases[region], words.size), words)


@pytest.mark.long
def test_a_draw_passes_and_fails_in_verilator(tmp_path: Path) -> None:
    job = load_job(make_job("depth_out", "sfn", tmp_path))
    write_hardware(DRAW, tmp_path, job)
    program = verilated(tmp_path)
    ended = subprocess.run([program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "PASS: all" in ended.stdout and "FAIL" not in ended.stdout
    lines = (tmp_path / EXPECTED).read_text().split()
    colours = [index for index, line in enumerate(lines) if line[:2] == "3f"]
    lines[colours[len(colours) // 2]] = "40490fdb"
    (tmp_path / EXPECTED).write_text("\n".join(lines) + "\n")
    ended = subprocess.run([program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "FAIL: 1 of" in ended.stdout and "PASS" not in ended.stdout

"""The testbench that `ctm verilog` writes replays a job, in whatever simulator, and notices what is wrong."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import pywellen
from typer.testing import CliRunner

from ctm.rtl.config import TINY
from ctm.sim.cli.application import application
from ctm.sim.engines.golden import GoldenEngine
from ctm.sim.jobs.loading import load_job
from ctm.sim.jobs.recording import record
from ctm.sim.report.core_description import core_description
from ctm.sim.report.hardware import write_hardware
from ctm.sim.report.testbench import EXPECTED, HOST, VERILATOR_OPTIONS, replaying
from ctm.sim.runtime.device import WATCHDOG
from ctm.tb.report.verilated import verilated

EXAMPLES = Path(__file__).parents[2] / "examples"
SAXPY, BITONIC = EXAMPLES / "saxpy" / "saxpy.toml", EXAMPLES / "bitonic" / "bitonic.toml"
_SYSTEM = 1 << 31


@pytest.mark.parametrize("job", [SAXPY, BITONIC], ids=["one buffer", "several buffers, arrays that are swapped"])
def test_the_script_is_what_a_host_does(job: Path) -> None:
    recording = record(load_job(job), TINY, watchdog=WATCHDOG)
    texts = replaying(recording, TINY, ["ctm.v"])
    words = [int(line, 16) for line in texts["host"].split()]
    local = recording.memory["local"].size
    engine, index, buffers = GoldenEngine(TINY, watchdog=WATCHDOG), 0, 0

    def address(index: int) -> int:
        return 4 * index if index < local else _SYSTEM + 4 * (index - local)

    while index < len(words):
        runs, index = words[index], index + 1
        for _ in range(runs):
            first, count = words[index : index + 2]
            engine.memory.write(address(first), np.array(words[index + 2 : index + 2 + count], np.uint32).tobytes())
            index += 2 + count
        engine.execute(*words[index : index + 2])
        index, buffers = index + 2, buffers + 1
    expected = np.array([int(line, 16) for line in texts["expected"].split()], np.uint32)
    assert buffers == len(recording.submissions) == sum(launch.section.repeat for launch in load_job(job).launches)
    assert expected.any()
    np.testing.assert_array_equal(engine.memory.words(0, local), expected[:local])
    np.testing.assert_array_equal(engine.memory.words(_SYSTEM, expected.size - local), expected[local:])


def test_nothing_is_left_to_be_filled_in() -> None:
    texts = replaying(record(load_job(SAXPY), TINY, watchdog=WATCHDOG), TINY, ["ctm.v"])
    assert "@" not in texts["testbench"].replace("@(posedge clk)", "").replace("@(negedge clk)", "")
    for port in TINY.memory.ports:
        assert f".m_axi_{port}_arvalid(m_axi_{port}_arvalid)" in texts["testbench"]


def test_a_job_that_is_none_writes_nothing(tmp_path: Path) -> None:
    job = tmp_path / "job.toml"
    job.write_text("[program]\n")
    result = CliRunner().invoke(application(), ["verilog", "--testbench", str(job), "-o", str(tmp_path / "out")])
    assert result.exit_code == 2
    assert "job.toml" in result.output
    assert not (tmp_path / "out").exists()


def test_the_description_names_the_files() -> None:
    names = {"verilog": "a.v", "waivers": "a.vlt"}
    alone = core_description("ctm", names)
    assert "[a.v]" in alone and "[a.vlt]" in alone and "sim:" not in alone
    with_job = core_description("ctm", names | {"testbench": "b.v", "host": "c.hex", "expected": "d.hex"})
    assert with_job.startswith("CAPI=2:\n") and "toplevel: ctm_tb" in with_job
    for line in ("- b.v: {file_type: verilogSource-2005}", "copyto: c.hex}", "copyto: d.hex}"):
        assert line in with_job


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("testbench")
    write_hardware(TINY, made, load_job(SAXPY))
    return made


def _check(command: list[str], folder: Path, tmp_path: Path) -> None:
    """It passes, and fails where a word at the end, or one that the host writes, is another one."""
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    assert "PASS: all" in ended.stdout and "FAIL" not in ended.stdout
    for name in (EXPECTED, HOST):
        lines = (folder / name).read_text().split()
        # Of what the host writes, a word of the arrays: those that are no small numbers nor words of the program.
        index = max(number for number, line in enumerate(lines) if line[:2] == "3f" and number < len(lines) - 64)
        lines[index] = "40490fdb"
        for file in folder.glob("ctm_tb*.hex"):
            shutil.copy(file, tmp_path)
        (tmp_path / name).write_text("\n".join(lines) + "\n")
        ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert "FAIL: 1 of" in ended.stdout or "FAIL: 2 of" in ended.stdout, ended.stdout
        assert "PASS" not in ended.stdout


def _check_waves(command: list[str], folder: Path) -> None:
    """With +waves it writes one, and always how far it is."""
    assert not (folder / "ctm_tb.vcd").exists()
    ended = subprocess.run([*command, "+waves"], cwd=folder, capture_output=True, text=True, check=True)
    shown = [int(line.split()[0]) for line in ended.stdout.splitlines() if "cycles, command buffer 1 of 1" in line]
    assert shown[:11] == [*range(100, 1100, 100), 2000]
    wave = pywellen.Waveform(str(folder / "ctm_tb.vcd"))
    (irq,) = (variable for variable in wave.all_vars() if variable.full_name.endswith("ctm_tb.irq"))
    assert [int(value) for _, value in irq.tv][-2:] == [1, 0]


@pytest.mark.long
def test_it_passes_and_fails_in_verilator(folder: Path, tmp_path: Path) -> None:
    program = verilated(folder)
    _check([program], folder, tmp_path)
    _check_waves([program], folder)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("iverilog") is None, reason="Icarus is not installed")
def test_it_passes_and_fails_in_icarus(folder: Path, tmp_path: Path) -> None:
    compiled = folder / "ctm_tb.vvp"
    subprocess.run(
        ["iverilog", "-g2005", "-s", "ctm_tb", "-o", str(compiled), "ctm_tb.v", "ctm.v"], cwd=folder, check=True
    )
    _check(["vvp", str(compiled)], folder, tmp_path)


def test_its_head_names_commands_that_are_there() -> None:
    text = replaying(record(load_job(SAXPY), TINY, watchdog=WATCHDOG), TINY, ["ctm.v"])["testbench"]
    commands = [line.split()[2] for line in text.splitlines() if line.startswith("//     $")]
    assert commands == ["iverilog", "verilator-cli"]
    assert (Path(sys.executable).parent / "verilator-cli").exists()
    assert f"verilator-cli {' '.join(VERILATOR_OPTIONS)} ctm_tb.v ctm.v && obj_dir/Vctm_tb" in text


def test_no_comment_is_an_instruction_to_verilator() -> None:
    """It takes a comment for one that begins with its name."""
    text = replaying(record(load_job(SAXPY), TINY, watchdog=WATCHDOG), TINY, ["ctm.v"])["testbench"]
    assert not re.search(r"//\s*verilator\s", text, re.IGNORECASE)

"""The machine as files: complete, free of a linter's errors, the same each time."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ctm.rtl.config import TINY
from ctm.sim.cli.application import application
from ctm.sim.compiled.tools.programs import run
from ctm.sim.compiled.tools.toolchain import find_verilator
from ctm.sim.report.hardware import write_hardware
from ctm.sim.report.header import c_header

TOP = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("hardware")
    write_hardware(TINY, made)
    return made


def test_all_files_are_there_and_nothing_else(folder: Path) -> None:
    assert {path.name for path in folder.iterdir()} == {"ctm.v", "ctm.f", "ctm.json", "ctm.h"}
    assert (folder / "ctm.f").read_text().split() == ["ctm.v"]
    assert (folder / "ctm.h").read_text() == c_header()
    configuration = json.loads((folder / "ctm.json").read_text())
    assert configuration["array"]["threads"] == TINY.array.threads
    assert configuration["memory_ports"] == ["m_axi_local", "m_axi_system"]


def test_the_verilog_has_no_errors_and_the_standards_ports(folder: Path) -> None:
    verilator = find_verilator()
    command = [str(verilator.root / "bin" / "verilator_bin"), "--lint-only", "-Wno-fatal", "-Wno-lint"]
    run(
        [*command, "--top-module", "ctm", str(folder / "ctm.v")],
        folder,
        environment={"VERILATOR_ROOT": str(verilator.root)},
    )
    text = (folder / "ctm.v").read_text()
    for port in ("s_axi_control_awaddr", "m_axi_local_arvalid", "m_axi_system_wstrb", "irq", "clk", "rst"):
        assert f" {port};" in text, port


def test_one_configuration_is_one_text_whatever_the_folder_and_the_seed_of_hashes(folder: Path, tmp_path: Path) -> None:
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    subprocess.run(
        [sys.executable, "-c", "from ctm.sim.cli import main; main()", "verilog", "--preset", "tiny", "-o", tmp_path],
        cwd="/",
        env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(TOP / "src")},
        check=True,
    )
    for path in folder.iterdir():
        assert path.read_bytes() == (tmp_path / path.name).read_bytes(), path.name


def test_a_setting_that_is_not_allowed_is_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(application(), ["verilog", "-o", str(tmp_path / "none"), "--set", "array.cores=17"])
    assert result.exit_code == 2
    assert "array.cores must be 1..16, not 17" in result.output
    assert not (tmp_path / "none").exists()

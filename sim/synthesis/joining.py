"""Netlists of units joined into one module, without what no other unit needs."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ctm.sim.compiled.tools.package import FPGA_YOSYS
from ctm.sim.compiled.tools.programs import Tools, check
from ctm.sim.files import write_file
from ctm.sim.synthesis.families.family import Joining
from ctm.sim.synthesis.linking import link
from ctm.sim.synthesis.tool import command, read_json

_UNITS, _JOINED = "units.json", "joined.json"


def join(
    modules: Mapping[str, Mapping[str, Any]], top: str, *, joining: Joining, folder: Path, tools: Tools
) -> dict[str, Any]:
    """One module with the function of `top`, which has no boxes any more; Yosys works in `folder`.

    Logic across borders of units is optimised as far as cells as they are allow: cells without a reader are
    removed, two cells that do the same are one, and constants go into tables. (Yosys could also put tables into each
    other, but `opt_lut` of version 0.70 changes what a multiply-add computes.)

    Raises
    ------
    ToolchainError
        Yosys failed.
    """
    known = {name: joining.known(module) for name, module in modules.items()}
    write_file(folder / _UNITS, json.dumps(link(known, top)).encode())
    libraries = " ".join(f"+/{name}" for name in joining.libraries)
    merge = f"opt_merge -share_all {' '.join(f't:{kind}' for kind in joining.merged)}"
    script = (
        f"read_verilog -lib {libraries}; read_json {_UNITS}; hierarchy -top {top}; flatten -noscopeinfo; "
        f"delete t:$scopeinfo; opt_clean; {merge}; opt_expr; {merge}; opt_clean; "
        f"select {top}; write_json -selected {_JOINED}"
    )
    check(tools.start(command(FPGA_YOSYS, "run_yosys", "-q", "-p", script), folder).result(), FPGA_YOSYS.distribution)
    module: Mapping[str, Any] = read_json(folder / _JOINED)["modules"][top]
    return joining.cells(module)

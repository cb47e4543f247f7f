"""Recorded draws: as jobs, run, and compared with another renderer's pictures. Rules: tb/data/draws/README.md."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ctm.rtl.config import PRESETS
from ctm.sim.draws.recorded import import_draw
from ctm.sim.jobs.arrays import encoded
from ctm.sim.jobs.execution import Execution, Run
from ctm.sim.jobs.loading import load_job
from ctm.tb.lib.machines import machine

DATA = Path(__file__).parents[1] / "data" / "draws"
NAMES = sorted(path.stem for path in DATA.glob("*.json"))
COMPILERS = ("sfn", "sb", "nosb")


@cache
def document(name: str) -> dict[str, Any]:
    """The JSON file of a draw."""
    found: dict[str, Any] = json.loads((DATA / f"{name}.json").read_text())
    return found


def cases(compilers: tuple[str, ...]) -> list[tuple[str, str]]:
    """Draws and compilers whose programs are right."""
    return [
        (name, compiler)
        for name in NAMES
        if not document(name).get("optional")
        for compiler in compilers
        if compiler not in document(name)["miscompiled"]
    ]


def make_job(name: str, compiler: str, folder: Path) -> Path:
    """The job of a draw in a folder."""
    imported = import_draw(DATA / f"{name}.json", document(name), compiler)
    for file, contents in imported.files.items():
        path = folder / file
        data = contents.encode() if isinstance(contents, str) else contents
        path.write_bytes(data if isinstance(data, bytes) else bytes(encoded(path, data)))
    return folder / f"{imported.name}.toml"


def run(job: Path, engine: str, wavefront: int, *, latency: int = 50) -> Run:
    """What a job leaves on an engine with wavefronts of this size, memory with this latency."""
    config = machine("draws") if engine == "rtl" else PRESETS["r700"]
    memory = replace(config.memory, latency=latency)
    config = replace(config, array=config.array.with_wavefront(wavefront), memory=memory)
    return Execution(load_job(job), engine=engine, config=config, watchdog=1 << 20).run()


def bits(found: Run) -> dict[int | str, bytes]:
    """All outputs as bytes."""
    return {key: array.tobytes() for key, array in found.outputs.items()}


def judge(name: str, found: Run) -> str:
    """What is wrong with a run beside the other renderer's, empty if nothing is."""
    scene = document(name)
    expected = np.load(DATA / f"{name}.npz")
    clear = np.float32(scene["clear"])
    ties = np.zeros(expected["colour"].shape[1:3], bool)
    for x, y in scene["ties"]:
        ties[y, x] = True
    for target in range(scene["targets"]):
        mine, its = found.outputs[target], expected["colour"][target]
        covered, theirs = ((each != clear).any(axis=-1) for each in (mine, its))
        if ((covered != theirs) & ~ties).sum() > scene["coverage_slack"]:
            return f"target {target}: {(covered != theirs).sum()} pixels are covered otherwise"
        both = covered & theirs & ~ties
        if scene["additive_blend"]:
            wrong = (np.rint(mine) != np.rint(its)).any(axis=-1)
        else:
            wrong = _beyond(mine, its, scene["relative_tolerance"]).any(axis=-1)
        if (wrong & both).any():
            return f"target {target}: {(wrong & both).sum()} pixels have another value"
    if scene["depth"]:
        depth = found.outputs["conditional"][..., 0]
        wrong = (np.abs(depth.astype(float) - expected["depth"]) > scene["depth_tolerance"]) & ~ties
        if wrong.any():
            return f"{wrong.sum()} depths differ"
    for stream in range(4):
        key = f"feedback{stream}"
        if key in expected and not np.array_equal(found.outputs[f"stream {stream}"], expected[key].view(np.uint32)):
            return f"{key} differs"
    return ""


def _beyond(mine: npt.NDArray[Any], its: npt.NDArray[Any], tolerance: float) -> npt.NDArray[np.bool_]:
    with np.errstate(all="ignore"):
        error = np.abs(mine.astype(float) - its) / np.maximum(1.0, np.abs(its.astype(float)))
    same = (mine == its) | (np.isnan(mine) & np.isnan(its))
    found: npt.NDArray[np.bool_] = ~same & ~(error <= tolerance)
    return found

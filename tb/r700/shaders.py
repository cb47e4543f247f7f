"""Runs a real compiled R700 program through the whole machine."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ctm.rtl.config import R700, MachineConfig
from ctm.rtl.isa.conditional import ConditionalLocation
from ctm.sim.elf import read_shader, write
from ctm.sim.elf.r700.executable import Executable
from ctm.sim.jobs.constants import ConstantFiles
from ctm.sim.runtime import CommandBuffer, Device
from ctm.sim.runtime.prologue.r700 import with_prologue
from ctm.tb.lib.compiled_results import Result, image, matches

_DATA = Path(__file__).parents[1] / "data" / "r700"
FOLDERS = (_DATA / "shaders", _DATA / "llvm")
FILES = {path.stem: path for folder in FOLDERS for path in sorted(folder.glob("*.json"))}
"""Programs of both kinds of compilers by name."""


@dataclass(frozen=True)
class Shader:
    """A program of tb/data/r700 with its arrays."""

    text: str
    document: dict[str, Any]
    arrays: dict[str, np.ndarray]

    @staticmethod
    def load(name: str) -> "Shader":
        path = FILES[name]
        text = path.read_text()
        with np.load(path.with_suffix(".npz")) as arrays:
            return Shader(text, json.loads(text), dict(arrays))

    @property
    def grid(self) -> tuple[int, int]:
        """Width and height of the domain."""
        width, height = self.document["grid"]
        return width, height


def run(
    shader: Shader,
    *,
    wavefront: int = 16,
    engine: str = "golden",
    config: MachineConfig | None = None,
    covered: np.ndarray | None = None,
) -> Result:
    """Run a program over its grid; with `covered` [height, width] only where a conditional test of the PE passes.

    The machine is `config`, or the preset with wavefronts of another size.
    """
    device = Device(engine, config or replace(R700, array=replace(R700.array, wavefront=wavefront)))
    source = read_shader(shader.text)
    assert isinstance(source.executable, Executable)
    executable, loaded_from = with_prologue(source.executable, source.inputs)
    arrays = {index: shader.arrays[f"gpr{register}"] for register, index in loaded_from.items()}
    for texture in shader.document["textures"]:
        arrays[texture["input"]] = shader.arrays[f"texture{texture['input']}"]
    commands = CommandBuffer().set_inst_fmt(device.place(write(executable)))
    floats, _, _ = (device.place(data) for data in ConstantFiles(floats=dict(source.float_constants), ints={}).images())
    commands.set_constf_fmt(floats)
    for index, array in arrays.items():
        loaded = image(device, array)
        commands.set_inp_fmt(index, loaded.base, loaded.layout.format_word, loaded.layout.height)
    width, height = shader.grid
    outputs = []
    for target in range(shader.document["targets"]):
        unwritten = np.full((height, width, 4), shader.document["unwritten"], np.float32)
        outputs.append(image(device, unwritten))
        commands.set_out_fmt(target, outputs[-1].base, outputs[-1].layout.format_word, height)
    depth = None
    if "expected_depth" in shader.arrays:
        depth = image(device, np.full((height, width, 1), shader.document["unwritten"], np.float32))
        commands.set_cond_out_fmt(depth.base, depth.layout.format_word, height)
        commands.set_cond_loc(ConditionalLocation.DPP).set_cond_out_mask(enable=True)
    commands.set_domain(0, 0, width - 1, height - 1).start_program()
    device.run(commands.flush_out_cache().flush_cond_out_cache())
    return Result(np.stack([output.read() for output in outputs]), None if depth is None else depth.read()[..., 0])


def wrong_pixels(shader: Shader, found: Result) -> np.ndarray:
    """Pixels [height, width] that are outside the tolerance of every reference's result."""
    compare = shader.document.get("compare", ["float"] * found.outputs.shape[0])
    names = [name for name in ("expected", "expected_second") if name in shader.arrays]
    right = np.ones(found.outputs.shape[1:3], bool)
    for target, kind in enumerate(compare):
        matches = [_matches(shader, found.outputs[target], shader.arrays[name][target], kind) for name in names]
        right &= np.logical_or.reduce(matches).all(axis=-1)
    if found.depth is not None:
        right &= _matches(shader, found.depth, shader.arrays["expected_depth"], "float")
    return ~right


def _matches(shader: Shader, found: np.ndarray, expected: np.ndarray, kind: str) -> np.ndarray:
    equal: np.ndarray = found.view(np.uint32) == np.ascontiguousarray(expected).view(np.uint32)
    return equal if kind == "bits" else equal | matches(found, expected, shader.document["relative_tolerance"])

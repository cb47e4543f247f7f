"""Runs a real compiled program through the whole machine."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ctm.rtl.config import DEFAULT, ArrayConfig, MachineConfig
from ctm.rtl.isa.conditional import ConditionalLocation
from ctm.sim.elf import read_shader, write
from ctm.sim.elf.r5xx.executable import Executable
from ctm.sim.jobs.constants import ConstantFiles
from ctm.sim.runtime import CommandBuffer, Device
from ctm.sim.runtime.prologue.r5xx import with_prologue
from ctm.tb.lib.compiled_results import Result, image, matches

FOLDER = Path(__file__).parents[1] / "data" / "r5xx" / "shaders"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))


@dataclass(frozen=True)
class Shader:
    """A program of tb/data/r5xx/shaders with its arrays."""

    text: str
    document: dict[str, Any]
    arrays: dict[str, np.ndarray]

    @staticmethod
    def load(name: str) -> "Shader":
        text = (FOLDER / f"{name}.json").read_text()
        with np.load(FOLDER / f"{name}.npz") as arrays:
            return Shader(text, json.loads(text), dict(arrays))

    @property
    def grid(self) -> tuple[int, int]:
        """Width and height of the domain."""
        width, height = self.document["grid"]
        return width, height


def run(
    shader: Shader, *, domain: tuple[int, int, int, int], lanes: int = 4, hazards: bool = False,
    engine: str = "golden", config: MachineConfig | None = None, port: str | None = None,
) -> Result:  # fmt: skip
    """Run a program over `domain` (i0, j0, i1, j1), on the default machine with `lanes` if it is not on another one."""
    config = config or replace(DEFAULT, array=ArrayConfig(lanes=lanes))
    device = Device(engine, config, hazards=hazards, port=port)
    source = read_shader(shader.text)
    numbers = sorted(int(name.removeprefix("temp")) for name in shader.arrays if name.startswith("temp"))
    assert isinstance(source.executable, Executable)
    executable, loaded_from = with_prologue(source.executable, numbers)
    arrays = {loaded_from[number]: shader.arrays[f"temp{number}"] for number in numbers}
    for texture in shader.document["textures"]:
        arrays[texture["input"]] = shader.arrays[f"texture{texture['input']}"]
    commands = CommandBuffer().set_inst_fmt(device.place(write(executable)))
    constants = ConstantFiles(floats=dict(source.float_constants), ints=dict(source.int_constants))
    floats, ints, _ = (device.place(data) for data in constants.images())
    commands.set_constf_fmt(floats).set_consti_fmt(ints)
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
    device.run(commands.set_domain(*domain).start_program().flush_out_cache().flush_cond_out_cache())
    return Result(np.stack([output.read() for output in outputs]), None if depth is None else depth.read()[..., 0])


def wrong_pixels(shader: Shader, found: Result) -> np.ndarray:
    """Pixels [height, width] that are outside the tolerance of every renderer's result."""
    right = _matches(shader, found.outputs, "expected", "expected_second").all(axis=(0, 3))
    if found.depth is not None:
        right &= _matches(shader, found.depth, "expected_depth")
    return np.asarray(~right)


def _matches(shader: Shader, found: np.ndarray, *names: str) -> np.ndarray:
    tolerance = shader.document["relative_tolerance"]
    found_right = [matches(found, shader.arrays[name], tolerance) for name in names if name in shader.arrays]
    right: np.ndarray = np.logical_or.reduce(found_right)
    return right

"""Runs a real compiled program through the whole machine."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rtl.config import DEFAULT, ArrayConfig
from rtl.isa.formats import DataFormat
from sim.elf import read_shader, write
from sim.jobs.constants import ConstantFiles
from sim.runtime import CommandBuffer, Device, Image, Layout
from sim.runtime.prologue import with_prologue

FOLDER = Path(__file__).parents[1] / "data" / "shaders"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))


@dataclass(frozen=True)
class Shader:
    """A program of tb/data/shaders with its arrays."""

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


def run(shader: Shader, *, domain: tuple[int, int, int, int], lanes: int = 4, hazards: bool = False) -> np.ndarray:
    """All outputs, float32 [targets, height, width, 4], after a run over `domain` (i0, j0, i1, j1)."""
    device = Device(config=replace(DEFAULT, array=ArrayConfig(lanes=lanes)), hazards=hazards)
    source = read_shader(shader.text)
    numbers = sorted(int(name.removeprefix("temp")) for name in shader.arrays if name.startswith("temp"))
    executable, loaded_from = with_prologue(source.executable, numbers)
    arrays = {loaded_from[number]: shader.arrays[f"temp{number}"] for number in numbers}
    for texture in shader.document["textures"]:
        arrays[texture["input"]] = shader.arrays[f"texture{texture['input']}"]
    commands = CommandBuffer().set_inst_fmt(device.place(write(executable)))
    constants = ConstantFiles(floats=dict(source.float_constants), ints=dict(source.int_constants))
    floats, ints, _ = (device.place(data) for data in constants.images())
    commands.set_constf_fmt(floats).set_consti_fmt(ints)
    for index, array in arrays.items():
        image = _image(device, array)
        commands.set_inp_fmt(index, image.base, image.layout.format_word, image.layout.height)
    width, height = shader.grid
    outputs = []
    for target in range(shader.document["targets"]):
        unwritten = np.full((height, width, 4), shader.document["unwritten"], np.float32)
        outputs.append(_image(device, unwritten))
        commands.set_out_fmt(target, outputs[-1].base, outputs[-1].layout.format_word, height)
    device.run(commands.set_domain(*domain).start_program().flush_out_cache())
    return np.stack([image.read() for image in outputs])


def _image(device: Device, array: np.ndarray) -> Image:
    height, width = array.shape[:2]
    return device.image(Layout(width=width, height=height, format=DataFormat.FLOAT32_4), array)


def wrong_pixels(shader: Shader, found: np.ndarray) -> np.ndarray:
    """Pixels [height, width] that are outside the tolerance of every renderer's result."""
    tolerance = shader.document["relative_tolerance"]
    right = np.zeros(found.shape, bool)
    for name in ("expected", "expected_second"):
        if name in shader.arrays:
            expected = shader.arrays[name]
            with np.errstate(invalid="ignore"):
                right |= np.abs(found - expected) <= tolerance * np.maximum(1, np.abs(expected))
            right |= np.isnan(found) & np.isnan(expected) | (found == expected)
    return ~right.all(axis=(0, 3))

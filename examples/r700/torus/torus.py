"""Draws a lit torus: a mesh, a vertex program that rotates and projects it, and a pixel program that lights it."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from ctm import (
    PRESETS,
    CommandBuffer,
    DataFormat,
    Device,
    Draw,
    Layout,
    PixelInput,
    VertexArray,
    Viewport,
    pipeline,
)
from ctm.rtl.isa.conditional import ConditionalLocation, ConditionalTest
from ctm.sim.runtime.draws import IndexArray

Floats = npt.NDArray[np.float32]

FOLDER = Path(__file__).resolve().parent
VERTEX, PIXEL = ((FOLDER / name).read_text(encoding="utf-8") for name in ("torus_vs.s", "torus_ps.s"))
BACKGROUND = (0.04, 0.05, 0.08, 1.0)
SIDE = 512
"""Of the picture."""
OF_VERTEX = 1
"""The line of 16 constants in which those of the vertex program begin."""
_AROUND, _THROUGH = 128, 64
_OF_JOB = 2
"""`coarse` of the job's mesh."""


def mesh(coarse: int = 1) -> tuple[Floats, npt.NDArray[np.uint16]]:
    """Vertices [n, 6], position and normal, and the indices of the triangles: one for `coarse` squared of all."""
    around, through = _AROUND // coarse, _THROUGH // coarse
    u, v = np.meshgrid(*(np.arange(count) * 2 * np.pi / count for count in (around, through)), indexing="ij")
    normal = np.stack([np.cos(u) * np.cos(v), np.sin(u) * np.cos(v), np.sin(v)], axis=-1)
    middle = np.stack([np.cos(u), np.sin(u), np.zeros_like(u)], axis=-1)
    vertices = np.concatenate([middle + 0.42 * normal, normal], axis=-1).reshape(-1, 6).astype(np.float32)
    number = np.arange(around * through).reshape(around, through)
    right, up = np.roll(number, -1, axis=0), np.roll(number, -1, axis=1)
    beyond = np.roll(right, -1, axis=1)
    return vertices, np.stack([number, right, up, up, right, beyond], axis=-1).ravel().astype(np.uint16)


def constants() -> Floats:
    """The float constants of both programs, [rows, 4]."""
    tilt, yaw = np.radians(58), np.radians(25)
    about_x = np.array([[1, 0, 0], [0, np.cos(tilt), -np.sin(tilt)], [0, np.sin(tilt), np.cos(tilt)]])
    about_z = np.array([[np.cos(yaw), -np.sin(yaw), 0], [np.sin(yaw), np.cos(yaw), 0], [0, 0, 1]])
    rotation = about_z @ about_x
    near, far, distance, focus = 1.0, 10.0, 4.0, 2.3
    # The eye looks along -z from `distance`; rows of the target grow downwards.
    project = np.array([
        [focus, 0, 0, 0], [0, -focus, 0, 0], [0, 0, -(far + near) / (far - near), -2 * far * near / (far - near)],
        [0, 0, -1, 0],
    ])  # fmt: skip
    view = np.eye(4)
    view[:3, :3], view[2, 3] = rotation, -distance
    light, eye = np.array([0.45, 0.65, 0.6]), np.array([0.0, 0.0, 1.0])
    light /= np.linalg.norm(light)
    half = (light + eye) / np.linalg.norm(light + eye)
    rows = np.zeros((16 * OF_VERTEX + 7, 4), np.float32)
    rows[0, :3], rows[1, :3], rows[2, :3], rows[3, :3] = light, half, (0.95, 0.42, 0.12), (0.12, 0.07, 0.06)
    rows[16 * OF_VERTEX : 16 * OF_VERTEX + 4] = project @ view
    rows[16 * OF_VERTEX + 4 :, :3] = rotation
    return rows


def inputs() -> dict[str, npt.NDArray[Any]]:
    """The arrays of the job, by file."""
    vertices, indices = mesh(_OF_JOB)
    return {"vertices.npy": vertices, "indices.npy": indices, "constants.npy": constants()}


def draw(side: int, engine: str = "fast", *, coarse: int = 1) -> Floats:
    """The picture, [side, side, 4], of a mesh as in `mesh`; hardware draws it, too."""
    device = Device(engine, PRESETS["r700-draw"])
    layout = Layout(width=side, height=side, format=DataFormat.FLOAT32_4)
    flat = Layout(width=side, height=side, format=DataFormat.FLOAT32_1)
    target = device.image(layout, np.full((side, side, 4), BACKGROUND, np.float32))
    depth = device.image(flat, np.ones((side, side), np.float32))
    vertices, indices = mesh(coarse)
    program = pipeline(
        vertex=VERTEX, pixel=PIXEL, inputs=[PixelInput(parameter=0)], constant_base=OF_VERTEX, depth=True
    )
    commands = CommandBuffer().set_inst_fmt(device.place(program)).set_constf_fmt(device.place(constants().tobytes()))
    commands.set_out_fmt(0, target.base, layout.format_word, side)
    commands.set_cond_out_fmt(depth.base, flat.format_word, side).set_cond_out_mask(enable=True)
    commands.set_cond_test(ConditionalTest.LESS).set_cond_loc(ConditionalLocation.DPP)
    torus = Draw(
        primitive="TRILIST", count=indices.size, viewport=Viewport.of(side, side),
        buffers={0: VertexArray.of(device, vertices)}, indices=IndexArray.of(device, indices),
    )  # fmt: skip
    device.run(torus.append(commands.set_domain(0, 0, side - 1, side - 1)).flush_out_cache())
    found: Floats = target.read().astype(np.float32)
    return found


def colours(picture: Floats) -> npt.NDArray[np.uint8]:
    """The picture as red, green and blue of 8 bits."""
    shades: npt.NDArray[np.uint8] = np.rint(255 * np.clip(picture[..., :3], 0, 1) ** (1 / 2.2)).astype(np.uint8)
    return shades


if __name__ == "__main__":
    file = Path(sys.argv[1] if len(sys.argv) > 1 else "torus.png")
    Image.fromarray(colours(draw(SIDE))).save(file)
    print(file)

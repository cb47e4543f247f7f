"""How fast draws are: meshes of triangles of several sizes on golden model and engine `fast`, in one run."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

from ctm.rtl.config import MachineConfig
from ctm.rtl.isa.formats import DataFormat
from ctm.sim.engines.fast.engine import FastEngine
from ctm.sim.engines.golden import GoldenEngine
from ctm.sim.report.benchmark import WrongResultError
from ctm.sim.runtime import CommandBuffer, Device, Layout
from ctm.sim.runtime.draws import Draw, IndexArray, PixelInput, VertexArray, Viewport, pipeline

_RUNS = 3
_MILLION = 1e6
_SIDE = 1024
"""Of the target, in pixels."""
_SQUARES = (4, 32, 48, 224)
"""Squares of a mesh in a row, each of two triangles: of 32,000, 500, 220 and 10 pixels."""
_VERTEX = """
.isa r700
.stage vs
FETCH R1, R0.x, b160
FETCH R2, R0.x, b160 OFFSET(16)
EXPORT_DONE POS60, R1
EXPORT_DONE PARAM0, R2
"""
_PIXEL = """
.isa r700
.stage ps
EXPORT_DONE PIX0, R0
"""


@dataclass(frozen=True, kw_only=True)
class DrawSpeed:
    """A mesh that covers nearly all of its target; seconds are those of the best run. Rates are per second."""

    name: str
    triangles: int
    pixels: int
    golden_seconds: float
    seconds: float
    golden_lane_instruction_rate: float
    pixel_rate: float
    triangle_rate: float

    @property
    def times_golden(self) -> float:
        """How many times as fast as the golden engine."""
        return self.golden_seconds / self.seconds


class _Mesh:
    """A mesh on a device, ready to be drawn again and again."""

    def __init__(self, engine: str, config: MachineConfig, side: int, squares: int) -> None:
        self.device = Device(engine, config)
        layout = Layout(width=side, height=side, format=DataFormat.FLOAT32_4)
        self.target = self.device.image(layout, np.zeros((side, side, 4), np.float32))
        vertices, indices = mesh(squares)
        program = self.device.place(pipeline(vertex=_VERTEX, pixel=_PIXEL, inputs=[PixelInput(parameter=0)]))
        draw = Draw(
            primitive="TRILIST", count=indices.size, viewport=Viewport.of(side, side),
            buffers={0: VertexArray.of(self.device, vertices)}, indices=IndexArray.of(self.device, indices),
        )  # fmt: skip
        commands = CommandBuffer().set_inst_fmt(program).set_domain(0, 0, side - 1, side - 1)
        commands.set_out_fmt(0, self.target.base, layout.format_word, side)
        self._commands = draw.append(commands).flush_out_cache()

    def seconds(self) -> float:
        """The best of some runs."""
        found = []
        for _ in range(_RUNS):
            begun = time.perf_counter()
            self.device.run(self._commands)
            found.append(time.perf_counter() - begun)
        return min(found)


def mesh(squares: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.uint32]]:
    """Vertices [n, 8], position and colour, and the indices of two triangles for each square."""
    grid = np.linspace(-0.98, 0.98, squares + 1, dtype=np.float32)
    x, y = np.meshgrid(grid, grid)
    vertices = np.ones((x.size, 8), np.float32)
    vertices[:, 0], vertices[:, 1], vertices[:, 2] = x.ravel(), y.ravel(), 0
    vertices[:, 4:] = np.random.default_rng(1).random((x.size, 4))
    first = (np.arange(squares)[:, None] * (squares + 1) + np.arange(squares)).ravel()
    corners = [first, first + 1, first + squares + 1, first + 1, first + squares + 2, first + squares + 1]
    return vertices, np.stack(corners, axis=1).ravel().astype(np.uint32)


def measure(config: MachineConfig, side: int, squares: int) -> DrawSpeed:
    """Draw a mesh on both engines.

    Raises
    ------
    WrongResultError
        The engines leave different bits.
    """
    golden, fast = (_Mesh(engine, config, side, squares) for engine in (GoldenEngine.name, FastEngine.name))
    seconds, golden_seconds = fast.seconds(), golden.seconds()
    name = f"{2 * squares * squares:,} triangles, {side} x {side}"
    picture = golden.target.read()
    if picture.tobytes() != fast.target.read().tobytes():
        raise WrongResultError(f"{name}: golden and fast leave different bits")
    pixels = int(picture.any(axis=-1).sum())
    return DrawSpeed(
        name=name,
        triangles=2 * squares * squares,
        pixels=pixels,
        golden_seconds=golden_seconds,
        seconds=seconds,
        golden_lane_instruction_rate=golden.device.report().lane_instructions / _RUNS / golden_seconds,
        pixel_rate=pixels / seconds,
        triangle_rate=2 * squares * squares / seconds,
    )


def measure_all(config: MachineConfig, tell: Callable[[str], None]) -> list[DrawSpeed]:
    """All scenes; errors as `measure`."""
    found = []
    for squares in _SQUARES:
        tell(f"drawing {2 * squares * squares:,} triangles")
        found.append(measure(config, _SIDE, squares))
    return found


def as_fields(found: list[DrawSpeed]) -> dict[str, Any]:
    """The fields of the JSON form."""
    return {"draws": [asdict(each) | {"times_golden": each.times_golden} for each in found]}


def print_speeds(found: list[DrawSpeed]) -> None:
    """A table."""
    table = Table(title=f"draws on {_SIDE} x {_SIDE} pixels; golden M/s: lane instructions")
    for column in ("triangles", "golden s", "fast s", "times", "M pixels/s", "k tri./s", "golden M/s"):
        table.add_column(column, justify="right")
    for each in found:
        table.add_row(
            f"{each.triangles:,}", f"{each.golden_seconds:.3f}", f"{each.seconds:.4f}", f"{each.times_golden:.0f}",
            f"{each.pixel_rate / _MILLION:.1f}", f"{each.triangle_rate / 1000:.0f}",
            f"{each.golden_lane_instruction_rate / _MILLION:.0f}",
        )  # fmt: skip
    Console().print(table)

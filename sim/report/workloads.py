"""What the benchmark runs: programs of examples/, most of them larger than there, each as one command buffer."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from examples.blackscholes import reference as blackscholes_reference
from examples.catalogue import FOLDER
from examples.expectation import Array, Expectation
from examples.mandelbrot import reference as mandelbrot_reference
from examples.matmul import reference as matmul_reference
from examples.nbody import reference as nbody_reference
from rtl.config import MachineConfig
from rtl.isa.formats import DataFormat, Tiling
from sim.assembler import assemble
from sim.elf import write
from sim.jobs.constants import ConstantFiles
from sim.runtime import CommandBuffer, Device, Image, Layout

_FORMATS = {1: DataFormat.FLOAT32_1, 2: DataFormat.FLOAT32_2, 4: DataFormat.FLOAT32_4}
Floats = tuple[float, float, float, float]


@dataclass(frozen=True, kw_only=True)
class Workload:
    """A program over a domain from (0, 0). Inputs and outputs are float32 in tiles, [height, width, channels].

    `expectations` are the outputs in the order of their indices. `operations` is how many multiplications and additions
    the task has by its definition, None where that says nothing.
    """

    name: str
    width: int
    height: int
    inputs: tuple[Array, ...] = ()
    expectations: tuple[Expectation, ...]
    floats: Mapping[int, Floats] = field(default_factory=dict)
    iterations: tuple[int, ...] = ()
    """Iteration counts of the int constants, in order."""
    operations: int | None = None


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A workload in the memory of a device."""

    workload: Workload
    device: Device
    commands: CommandBuffer
    outputs: tuple[Image, ...]

    def is_right(self) -> bool:
        """Whether the outputs hold what numpy says."""
        pairs = zip(self.workload.expectations, self.outputs, strict=True)
        return all(expectation.holds(image.read()) for expectation, image in pairs)


def workloads() -> list[Workload]:
    """All workloads, with their inputs and expected results."""
    return [mandelbrot(512), matmul(256), nbody(32), blackscholes(512)]


def prepare(workload: Workload, engine: str, config: MachineConfig) -> Prepared:
    """Put a workload into the memory of a new device."""
    device = Device(engine, config)
    source = (FOLDER / workload.name / f"{workload.name}.s").read_text(encoding="utf-8")
    floats = {index: _words(values) for index, values in workload.floats.items()}
    constants = ConstantFiles(floats=floats, ints=dict(enumerate(workload.iterations)))
    float_image, int_image, _ = (device.place(data) for data in constants.images())
    commands = CommandBuffer().set_inst_fmt(device.place(write(assemble(source, name=workload.name))))
    commands.set_constf_fmt(float_image).set_consti_fmt(int_image)
    for index, array in enumerate(workload.inputs):
        image = _image(device, array.shape, array)
        commands.set_inp_fmt(index, image.base, image.layout.format_word, image.layout.height)
    outputs = tuple(_image(device, expectation.values.shape) for expectation in workload.expectations)
    for index, image in enumerate(outputs):
        commands.set_out_fmt(index, image.base, image.layout.format_word, image.layout.height)
    commands.set_domain(0, 0, workload.width - 1, workload.height - 1)
    commands.start_program().flush_out_cache().wait_for_idle()
    return Prepared(workload=workload, device=device, commands=commands, outputs=outputs)


def _words(values: Floats) -> tuple[int, ...]:
    return tuple(int(word) for word in np.array(values, np.float32).view(np.uint32))


def _image(device: Device, shape: tuple[int, ...], values: Array | None = None) -> Image:
    height, width, channels = shape
    layout = Layout(width=width, height=height, format=_FORMATS[channels], tiling=Tiling.TILED)
    return device.image(layout, values)


def mandelbrot(side: int) -> Workload:
    """The part of the plane that the example shows, with `side`^2 points, up to 255 steps."""
    step = mandelbrot_reference.STEP * mandelbrot_reference.WIDTH / side
    left, bottom, limit = mandelbrot_reference.LEFT, mandelbrot_reference.BOTTOM, mandelbrot_reference.LIMIT
    return Workload(
        name="mandelbrot",
        width=side,
        height=side,
        expectations=(Expectation(mandelbrot_reference.steps(side, side, step, left, bottom, limit)),),
        floats={0: (step, step, left, bottom)},
        iterations=(limit // 4,),
    )


def matmul(size: int) -> Workload:
    """The product of two matrices of `size` x `size` numbers, a multiple of four up to 1020."""
    arrays = matmul_reference.inputs(size)
    return Workload(
        name="matmul",
        width=size // matmul_reference.BLOCK,
        height=size // matmul_reference.BLOCK,
        inputs=tuple(arrays.values()),
        expectations=tuple(matmul_reference.expected(arrays).values()),
        iterations=(size // 4,),
        operations=2 * size**3,
    )


def nbody(side: int) -> Workload:
    """One step of `side`^2 bodies, `side` even and up to 510."""
    arrays = nbody_reference.inputs(side)
    return Workload(
        name="nbody",
        width=side,
        height=side,
        inputs=tuple(arrays.values()),
        expectations=tuple(nbody_reference.expected(arrays, steps=1).values()),
        floats={0: (nbody_reference.STEP, nbody_reference.SOFTENING, 0.0, 0.0)},
        iterations=(side // 2, side // 2),
    )


def blackscholes(side: int) -> Workload:
    """Prices of `side`^2 options."""
    arrays = blackscholes_reference.inputs(side)
    return Workload(
        name="blackscholes",
        width=side,
        height=side,
        inputs=tuple(arrays.values()),
        expectations=tuple(blackscholes_reference.expected(arrays).values()),
        floats=blackscholes_reference.CONSTANTS,
    )

"""What the benchmark runs: programs of examples/, most of them larger than there, each as one command buffer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

import numpy as np

from ctm.examples.blackscholes import reference as blackscholes_reference
from ctm.examples.blur import reference as blur_reference
from ctm.examples.catalogue import FOLDER
from ctm.examples.expectation import Array, Expectation
from ctm.examples.mandelbrot import reference as mandelbrot_reference
from ctm.examples.matmul import reference as matmul_reference
from ctm.examples.nbody import reference as nbody_reference
from ctm.examples.saxpy import reference as saxpy_reference
from ctm.rtl.config import MachineConfig
from ctm.rtl.isa.formats import DataFormat, Tiling
from ctm.sim.assembler import assemble
from ctm.sim.elf import write
from ctm.sim.jobs.constants import ConstantFiles
from ctm.sim.jobs.loading import load_job
from ctm.sim.runtime import CommandBuffer, Device, Image, Layout

_FORMATS = {1: DataFormat.FLOAT32_1, 2: DataFormat.FLOAT32_2, 4: DataFormat.FLOAT32_4}
Floats = tuple[float, float, float, float]
STEP_OPERATIONS = 8
"""Of z^2 + c and |z|^2: x^2, y^2, xy and its double; two sums for x, one for y, one for the square."""
_PAIR_OPERATIONS = 18
"""Of a body's pull: 3 differences, 6 for the square with its softening, 2 for the root's cube, 1 for the mass, 6."""


@dataclass(frozen=True, kw_only=True)
class Workload:
    """A program over a domain that begins at (first, first).

    Inputs and outputs are float32 or uint16 in tiles, [height, width, channels]; `gathers` reads inputs in 2x2 mode.
    `initial` are the outputs' contents before, 0 where there are none. `expectations` are the outputs in the order of
    their indices. `operations` is how many multiplications and additions the task has by its definition, None where
    that says nothing. `name` is the example's, `kind` the instruction set of its program.
    """

    name: str
    width: int
    height: int
    inputs: tuple[Array, ...] = ()
    expectations: tuple[Expectation, ...]
    kind: str = "r5xx"
    floats: Mapping[int, Floats] = field(default_factory=dict)
    words: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """Float constants given by their bits."""
    iterations: tuple[int, ...] = ()
    """Int constants in order: iteration counts, or whole words."""
    operations: int | None = None
    first: int = 0
    gathers: bool = False
    initial: tuple[Array, ...] = ()

    def runs_on(self, machine: MachineConfig) -> bool:
        """Whether the machine's cores are for its program."""
        return machine.array.instruction_set == self.kind


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A workload in the memory of a device. Its command buffer also reads the machine's own counters."""

    workload: Workload
    device: Device
    commands: CommandBuffer
    outputs: tuple[Image, ...]
    counters: int

    @property
    def cycles(self) -> int:
        """Clocks of the last run, from start_program until the outputs were in memory; 0 where there is no clock."""
        return self.device.memory.word(self.counters)

    def is_right(self) -> bool:
        """Whether the outputs hold what numpy says."""
        pairs = zip(self.workload.expectations, self.outputs, strict=True)
        return all(expectation.holds(image.read()) for expectation, image in pairs)


def workloads() -> list[Workload]:
    """All workloads, with their inputs and expected results."""
    return [mandelbrot(512), matmul(256), nbody(32), blackscholes(512)]


def executable(workload: Workload) -> bytes:
    """A workload's program."""
    source = (FOLDER / workload.name / f"{Path(workload.name).name}.s").read_text(encoding="utf-8")
    return write(assemble(source, name=workload.name))


def prepare(workload: Workload, engine: str, config: MachineConfig) -> Prepared:
    """Put a workload into the memory of a new device."""
    device = Device(engine, config)
    floats = {**{index: _words(values) for index, values in workload.floats.items()}, **workload.words}
    constants = ConstantFiles(floats=floats, ints=dict(enumerate(workload.iterations)))
    float_image, int_image, _ = (device.place(data) for data in constants.images())
    commands = CommandBuffer().set_inst_fmt(device.place(executable(workload)))
    commands.set_constf_fmt(float_image).set_consti_fmt(int_image)
    for index, array in enumerate(workload.inputs):
        image = _image(device, array.shape, array, gathers=workload.gathers)
        commands.set_inp_fmt(index, image.base, image.layout.format_word, image.layout.height)
    outputs = tuple(
        _image(device, expectation.values.shape, initial)
        for expectation, initial in zip_longest(workload.expectations, workload.initial)
    )
    for index, image in enumerate(outputs):
        commands.set_out_fmt(index, image.base, image.layout.format_word, image.layout.height)
    first = workload.first
    commands.set_domain(first, first, first + workload.width - 1, first + workload.height - 1)
    commands.inv_inst_cache().inv_inp_cache().inv_constf_cache()
    counters = device.allocate(8)
    commands.init_perf_counters(enable=True).start_perf_counters()
    commands.start_program().flush_out_cache().stop_perf_counters().read_perf_counters(counters)
    return Prepared(workload=workload, device=device, commands=commands, outputs=outputs, counters=counters)


def succession(engine: str, config: MachineConfig, count: int) -> Prepared:
    """`count` programs of 64 pixels, in succession, with nothing but another domain between them."""
    side = 8
    rows, columns = np.mgrid[0 : side * count, 0:side]
    sums = Expectation((rows + columns).astype(np.float32)[:, :, None])
    workload = Workload(name="succession", width=side, height=side, expectations=(sums,))
    device = Device(engine, config)
    output = _image(device, sums.values.shape)
    commands = CommandBuffer().set_inst_fmt(
        device.place(write(assemble("OUT o0.r = ADD(r0, r0.g)", name="succession")))
    )
    commands.set_out_fmt(0, output.base, output.layout.format_word, output.layout.height)
    counters = device.allocate(8)
    commands.init_perf_counters(enable=True).start_perf_counters()
    for number in range(count):
        commands.set_domain(0, side * number, side - 1, side * number + side - 1).start_program()
    commands.flush_out_cache().stop_perf_counters().read_perf_counters(counters)
    return Prepared(workload=workload, device=device, commands=commands, outputs=(output,), counters=counters)


def _words(values: Floats) -> tuple[int, ...]:
    return tuple(int(word) for word in np.array(values, np.float32).view(np.uint32))


def _image(device: Device, shape: tuple[int, ...], values: Array | None = None, *, gathers: bool = False) -> Image:
    height, width, channels = shape
    is_integer = values is not None and values.dtype == np.uint16
    layout = Layout(
        width=width,
        height=height,
        format=DataFormat.UINT16_1 if is_integer else _FORMATS[channels],
        tiling=Tiling.TILED_INP_2X2 if gathers else Tiling.TILED,
    )
    return device.image(layout, values)


def saxpy(side: int) -> Workload:
    """`side`^2 pixels, each with four numbers."""
    arrays = saxpy_reference.inputs(side, side)
    return Workload(
        name="saxpy",
        width=side,
        height=side,
        inputs=tuple(arrays.values()),
        expectations=tuple(saxpy_reference.expected(arrays).values()),
        floats={0: (saxpy_reference.A, 0.0, 0.0, 0.0)},
        operations=2 * 4 * side**2,
    )


def blur() -> Workload:
    """One pass of the example: 251 x 251 pixels, 25 products each."""
    (picture,) = blur_reference.inputs().values()
    side = blur_reference.LAST - blur_reference.FIRST + 1
    constants = load_job(FOLDER / "blur" / "blur.toml").launches[0].constants
    return Workload(
        name="blur",
        width=side,
        height=side,
        inputs=(picture[:, :, None],),
        expectations=(Expectation(blur_reference.blurred(picture, 1)[:, :, None], 1.0),),
        floats={index: _floats(words) for index, words in constants.floats.items()},
        operations=2 * 25 * side**2,
        first=blur_reference.FIRST,
        gathers=True,
        initial=(picture[:, :, None],),
    )


def _floats(words: tuple[int, ...]) -> Floats:
    red, green, blue, alpha = (float(value) for value in np.array(words, np.uint32).view(np.float32))
    return red, green, blue, alpha


def mandelbrot(side: int) -> Workload:
    """The example's section of the plane, with `side`^2 points, up to 255 steps."""
    step = mandelbrot_reference.STEP * mandelbrot_reference.WIDTH / side
    left, bottom, limit = mandelbrot_reference.LEFT, mandelbrot_reference.BOTTOM, mandelbrot_reference.LIMIT
    steps = mandelbrot_reference.steps(side, side, step, left, bottom, limit)
    return Workload(
        name="mandelbrot",
        width=side,
        height=side,
        expectations=(Expectation(steps),),
        floats={0: (step, step, left, bottom)},
        iterations=(limit // 4,),
        operations=STEP_OPERATIONS * int(steps.sum()),
    )


def matmul(size: int) -> Workload:
    """The product of two matrices of `size` x `size` numbers, a multiple of eight up to 1016."""
    arrays = matmul_reference.inputs(size)
    return Workload(
        name="matmul",
        width=size // matmul_reference.BLOCK,
        height=size // matmul_reference.BLOCK,
        inputs=tuple(arrays.values()),
        expectations=tuple(matmul_reference.expected(arrays).values()),
        iterations=(size // 8,),
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
        operations=_PAIR_OPERATIONS * side**4,
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

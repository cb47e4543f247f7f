"""A small machine for tests of the R700: a program in memory, its arrays, and a command processor over them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

from ctm.rtl.config import ArrayConfig
from ctm.rtl.isa.conditional import ConditionalLocation, ConditionalTest
from ctm.rtl.isa.formats import DataFormat, Tiling
from ctm.sim.elf import write
from ctm.sim.elf.r700.executable import Executable
from ctm.sim.engines.engine import Engine
from ctm.sim.fault import MachineError
from ctm.sim.golden.machine import Machine
from ctm.sim.jobs.constants import ConstantFiles
from ctm.sim.memory import Memory
from ctm.sim.runtime import CommandBuffer, Layout

PROGRAM, FLOATS, INTS, BOOLS, BUFFER = 0x10000, 0x40000, 0x42000, 0x42800, 0x44000
CONDITIONAL, OUTPUTS, INPUTS = 0x80000, 0x100000, 0x400000
_STEP = 0x40000
"""Bytes between outputs and between inputs."""
UNTOUCHED = 0xDEAD_BEEF
"""What outputs and memory hold before a run."""
WATCHDOG = 20_000


@dataclass(frozen=True, kw_only=True)
class Input:
    """An input: words or floats [height, width, channels]."""

    values: np.ndarray
    tiling: Tiling = Tiling.LINEAR

    @property
    def layout(self) -> Layout:
        """Where its elements lie."""
        height, width, channels = self.values.shape
        formats = {1: DataFormat.FLOAT32_1, 2: DataFormat.FLOAT32_2, 4: DataFormat.FLOAT32_4}
        return Layout(width=width, height=height, format=formats[channels], tiling=self.tiling)

    @property
    def image(self) -> bytes:
        """What memory holds."""
        return _image(self.layout, self.values)


@dataclass(frozen=True, kw_only=True)
class RawInput:
    """An input of any layout, and what memory holds there."""

    layout: Layout
    image: bytes


@dataclass(frozen=True, kw_only=True)
class Job:
    """A program and what it runs on.

    The domain is (i0, j0, i1, j1), both ends included; `covered` [height, width] from (0, 0) on takes pixels out of
    it. `targets` outputs are FLOAT32_4; output 0 of a program that writes memory is `dwords` FLOAT32_1, and so is
    output 3 of one with a scratch.
    """

    program: Executable | bytes
    domain: tuple[int, int, int, int] = (0, 0, 3, 3)
    floats: Mapping[int, Sequence[int]] = field(default_factory=dict)
    ints: Mapping[int, tuple[int, int, int]] = field(default_factory=dict)
    bools: Mapping[int, bool] = field(default_factory=dict)
    inputs: Mapping[int, Input | RawInput] = field(default_factory=dict)
    targets: int = 1
    dwords: int = 256
    covered: np.ndarray | None = None
    conditional: bool = False
    wavefront: int = 4
    hazards: bool = False
    watchdog: int = WATCHDOG
    observers: Sequence[Any] = ()
    before: CommandBuffer = field(default_factory=CommandBuffer)

    def on(self, wavefront: int) -> "Job":
        """The same on wavefronts of another size."""
        return replace(self, wavefront=wavefront)


@dataclass(frozen=True, kw_only=True)
class Run:
    """What a run left.

    outputs
        Words [targets, height, width, 4].
    conditional
        Words [height, width].
    memory, scratch
        Words of outputs 0 and 3 as linear arrays, for programs with these flags.

    Error:
        What stopped it.
    """

    outputs: np.ndarray
    conditional: np.ndarray
    memory: np.ndarray
    scratch: np.ndarray
    error: MachineError | None
    instructions: int

    @property
    def fault(self) -> tuple[str, int, int, int, int] | None:
        """Of a program's fault: status, CF instruction, address in the clause, i and j."""
        if self.error is None:
            return None
        pc = -1 if self.error.pc is None else self.error.pc
        i, j = (-1 if coordinate is None else coordinate for coordinate in (self.error.i, self.error.j))
        return self.error.status.name, pc & 0xFFFF, pc >> 16, i, j


@cache
def _memory() -> Memory:
    """One for all runs: a new one costs more than what it is used for."""
    return Memory()


AFTERWARDS: list[Callable[[Job], None]] = []
"""A function that is called with each job after its run: with hardware, its results are compared."""


def run(job: Job) -> Run:
    """Run a job on the golden model."""
    found = run_golden(job)
    for each in AFTERWARDS:
        each(job)
    return found


def run_golden(job: Job) -> Run:
    """The same, and nothing else."""
    memory = _memory()
    commands, layouts = load_job(job, memory)
    array = ArrayConfig(instruction_set="r700", wavefront=job.wavefront)
    machine = Machine(array, memory, watchdog=job.watchdog, hazards=job.hazards, observers=job.observers)
    error = None
    try:
        machine.run(BUFFER, len(commands.words))
    except MachineError as found:
        error = found
    return _result(job, memory, layouts, error, sum(machine.counters.issued.values()))


def run_on(job: Job, engine: Engine) -> Run:
    """Run a job on an engine, whose watchdog and size of wavefronts count."""
    before = engine.report().instructions
    commands, layouts = load_job(job, engine.memory)
    error = None
    try:
        engine.execute(BUFFER, len(commands.words))
    except MachineError as found:
        error = found
    return _result(job, engine.memory, layouts, error, engine.report().instructions - before)


def load_job(job: Job, memory: Memory) -> tuple[CommandBuffer, list[Layout]]:
    """Put a job into memory: its commands, and the layouts of its outputs."""
    memory.bytes[BUFFER : INPUTS + 16 * _STEP].view(np.uint32)[: (CONDITIONAL - BUFFER) // 4] = 0
    program = job.program if isinstance(job.program, bytes) else write(job.program)
    memory.write(PROGRAM, program)
    ints = {n: count | start << 8 | (step & 0xFF) << 16 for n, (count, start, step) in job.ints.items()}
    files = ConstantFiles(floats={n: tuple(w) for n, w in job.floats.items()}, ints=ints, bools=dict(job.bools))
    for address, data in zip((FLOATS, INTS, BOOLS), files.images(), strict=True):
        memory.write(address, data)
    commands, layouts = _commands(job, memory)
    memory.write(BUFFER, bytes(commands))
    return commands, layouts


def _commands(job: Job, memory: Memory) -> tuple[CommandBuffer, list[Layout]]:
    commands = CommandBuffer().set_inst_fmt(PROGRAM)
    commands.set_constf_fmt(FLOATS).set_consti_fmt(INTS).set_constb_fmt(BOOLS)
    for index, each in job.inputs.items():
        base, layout = INPUTS + _STEP * index, each.layout
        memory.write(base, each.image)
        commands.set_inp_fmt(index, base, layout.format_word, layout.height)
    layouts = [_layout_of(job, output) for output in range(4)]
    for output, layout in enumerate(layouts):
        base = OUTPUTS + _STEP * output
        memory.view(np.uint32)[base // 4 : (base + layout.size) // 4 + 64] = UNTOUCHED
        commands.set_out_fmt(output, base, layout.format_word, layout.height)
    _conditional(job, memory, commands)
    commands.words += job.before.words
    return commands.set_domain(*job.domain).start_program().flush_out_cache().flush_cond_out_cache(), layouts


def _layout_of(job: Job, output: int) -> Layout:
    information = job.program if isinstance(job.program, Executable) else None
    linear = information is not None and (output == 0 and information.memory or output == 3 and information.scratch)
    if linear:
        return Layout(width=8, height=-(-job.dwords // 8), format=DataFormat.FLOAT32_1)
    return Layout(width=job.domain[2] + 1, height=job.domain[3] + 1, format=DataFormat.FLOAT32_4)


def _conditional(job: Job, memory: Memory, commands: CommandBuffer) -> None:
    """A buffer that takes the program's conditional values, or one that tells which pixels are covered."""
    width, height = job.domain[2] + 1, job.domain[3] + 1
    layout = Layout(width=width, height=height, format=DataFormat.FLOAT32_1)
    if job.covered is None:
        values = np.full((height, width, 1), UNTOUCHED, np.uint32)
        test, location = ConditionalTest.ALWAYS, ConditionalLocation.DPP
    else:
        values = np.zeros((height, width, 1), np.float32)
        values[: job.covered.shape[0], : job.covered.shape[1], 0] = job.covered
        test, location = ConditionalTest.EQUAL, ConditionalLocation.PE
    memory.write(CONDITIONAL, _image(layout, values))
    commands.set_cond_out_fmt(CONDITIONAL, layout.format_word, height).set_cond_val(1.0).set_cond_test(test)
    commands.set_cond_loc(location).set_cond_out_mask(enable=job.conditional)


def _image(layout: Layout, values: np.ndarray) -> bytes:
    height, width, channels = values.shape
    assert not layout.is_tiled
    words = np.zeros((height, layout.pitch, channels), np.uint32)
    words[:, :width] = np.ascontiguousarray(values).view(np.uint32).reshape(values.shape)
    return words.tobytes()


def _result(job: Job, memory: Memory, layouts: list[Layout], error: MachineError | None, instructions: int) -> Run:
    def words(base: int, layout: Layout, channels: int) -> np.ndarray:
        found = memory.view(np.uint32)[base // 4 : (base + layout.size) // 4].copy()
        return found.reshape(layout.height, layout.pitch, channels)[:, : layout.width]

    width, height = job.domain[2] + 1, job.domain[3] + 1
    outputs = [
        words(OUTPUTS + _STEP * output, layouts[output], 4)
        for output in range(job.targets)
        if layouts[output].format is DataFormat.FLOAT32_4
    ]
    linear = [
        words(OUTPUTS + _STEP * output, layouts[output], 1).ravel()
        if layouts[output].format is DataFormat.FLOAT32_1
        else np.zeros(0, np.uint32)
        for output in (0, 3)
    ]
    depth = Layout(width=width, height=height, format=DataFormat.FLOAT32_1)
    return Run(
        outputs=np.stack(outputs) if outputs else np.zeros((0, height, width, 4), np.uint32),
        conditional=words(CONDITIONAL, depth, 1)[..., 0],
        memory=linear[0],
        scratch=linear[1],
        error=error,
        instructions=instructions,
    )

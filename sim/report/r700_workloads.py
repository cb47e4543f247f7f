"""What the benchmark runs on R700 cores: programs of examples/r700, larger than there."""

from ctm.examples.catalogue import FOLDER
from ctm.examples.expectation import Expectation
from ctm.examples.mandelbrot.reference import BOTTOM, LEFT, LIMIT, STEP, WIDTH
from ctm.examples.matmul.reference import BLOCK
from ctm.examples.r700.mandelbrot import reference as mandelbrot_reference
from ctm.examples.r700.matmul import reference as matmul_reference
from ctm.examples.r700.saxpy import reference as saxpy_reference
from ctm.examples.r700.sha256 import reference as sha256_reference
from ctm.examples.saxpy.reference import A
from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r700.control_flow import CfOperation
from ctm.sim.assembler import assemble
from ctm.sim.elf.r700.executable import Executable
from ctm.sim.elf.r700.operands import instructions
from ctm.sim.elf.r700.words import words
from ctm.sim.report.workloads import STEP_OPERATIONS, Workload

_KIND = "r700"
_HASH_ROUNDS = 16
"""Rounds of sha256's loop, each four of the algorithm's."""


def workloads() -> list[Workload]:
    """All workloads, with their inputs and expected results."""
    return [mandelbrot(512), matmul(256), sha256(64)]


def saxpy(side: int) -> Workload:
    """`side`^2 pixels, each with four numbers."""
    arrays = saxpy_reference.inputs(side, side)
    return Workload(
        name="r700/saxpy",
        kind=_KIND,
        width=side,
        height=side,
        inputs=tuple(arrays.values()),
        expectations=tuple(saxpy_reference.expected(arrays).values()),
        floats={0: (A, 0.0, 0.0, 0.0)},
        operations=2 * CHANNELS * side**2,
    )


def mandelbrot(side: int) -> Workload:
    """The example's section of the plane, with `side`^2 points, up to 255 steps."""
    step = STEP * WIDTH / side
    steps = mandelbrot_reference.steps(side, side, step, LEFT, BOTTOM, LIMIT)
    return Workload(
        name="r700/mandelbrot",
        kind=_KIND,
        width=side,
        height=side,
        expectations=(Expectation(steps),),
        floats={0: (step, step, LEFT, BOTTOM)},
        iterations=(LIMIT // 4,),
        operations=STEP_OPERATIONS * int(steps.sum()),
    )


def matmul(size: int) -> Workload:
    """The product of two matrices of `size` x `size` numbers, a multiple of eight up to 1016."""
    arrays = matmul_reference.inputs(size)
    return Workload(
        name="r700/matmul",
        kind=_KIND,
        width=size // BLOCK,
        height=size // BLOCK,
        inputs=tuple(arrays.values()),
        expectations=tuple(matmul_reference.expected(arrays).values()),
        iterations=(size // 8,),
        operations=2 * size**3,
    )


def sha256(side: int) -> Workload:
    """Hashes of `side`^2 messages. Operations are those that stand in the slots of groups."""
    arrays = sha256_reference.inputs(side, side)
    constants = sha256_reference.ROUND_CONSTANTS
    rows = range(len(constants) // CHANNELS)
    return Workload(
        name="r700/sha256",
        kind=_KIND,
        width=side,
        height=side,
        inputs=tuple(arrays.values()),
        expectations=tuple(sha256_reference.expected(arrays).values()),
        words={row: tuple(constants[CHANNELS * row : CHANNELS * (row + 1)]) for row in rows},
        iterations=(_HASH_ROUNDS | 1 << 16,),
        operations=side**2 * _executed_slots("sha256", _HASH_ROUNDS),
    )


def _executed_slots(name: str, rounds: int) -> int:
    """Instructions that one pixel executes of a program with one loop that goes round so often."""
    source = (FOLDER / _KIND / name / f"{name}.s").read_text(encoding="utf-8")
    executable = assemble(source, name=name)
    assert isinstance(executable, Executable)
    count, times = 0, 1
    for word in words(executable.code, executable.start):
        if word.is_alu:
            count += times * sum(1 for _ in instructions(executable.code, word))
        elif not word.is_export and word.fields["cf_inst"] == CfOperation.LOOP_START.value:
            times = rounds
        elif not word.is_export and word.fields["cf_inst"] == CfOperation.LOOP_END.value:
            times = 1
    return count

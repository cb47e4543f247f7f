"""Compiled kernels on the golden model."""

import numpy as np

from ctm.sim.elf import Executable
from ctm.sim.elf.r700.executable import Executable as R700Executable
from ctm.tb.compiler.host import Launch, Results
from ctm.tb.r700 import machine

UNTOUCHED = machine.UNTOUCHED


def job(executable: Executable, launch: Launch, *, wavefront: int = 16) -> machine.Job:
    """A run of a program over the domain of a launch."""
    assert isinstance(executable, R700Executable)
    return machine.Job(
        program=executable,
        domain=(0, 0, launch.width - 1, launch.height - 1),
        floats={number: tuple(int(word) for word in row) for number, row in enumerate(launch.constants)},
        inputs={number: machine.Input(values=array) for number, array in launch.inputs.items()},
        targets=4,
        dwords=launch.dwords or 256,
        conditional=True,
        wavefront=wavefront,
        watchdog=1_000_000,
    )


def run(executable: Executable, launch: Launch, *, wavefront: int = 16) -> Results:
    """Run a program over the domain of a launch."""
    assert isinstance(executable, R700Executable)
    found = machine.run(job(executable, launch, wavefront=wavefront))
    assert found.error is None, found.error
    conditional = found.conditional if executable.depth else np.full_like(found.conditional, UNTOUCHED)
    outputs = found.outputs
    if executable.memory:
        # Output 0 is memory.
        outputs = np.concatenate([np.full_like(outputs[:1], UNTOUCHED), outputs])
    return Results(outputs=outputs, conditional=conditional, memory=found.memory[: launch.dwords])

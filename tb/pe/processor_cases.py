"""Streams for the command processor, run and compared with the golden model."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from ctm.rtl.config import ArrayConfig
from ctm.sim.memory import Memory
from ctm.sim.runtime import CommandBuffer
from ctm.tb.lib.some import only
from ctm.tb.pe.checking import check
from ctm.tb.pe.images import put_small
from ctm.tb.pe.simulation import ProcessorSimulation, Timing, Work
from ctm.tb.pe.streams import random_case

ON_LANES = pytest.mark.parametrize("lanes", only((4, 8, 16), (4,)))
"""Each takes a model."""
PROGRAM, BUFFER = 0x10000, 0x2000_0040
"""Where the image is, and the first command buffer."""
TIMINGS = {
    "ideal": Timing(),
    "far": Timing(latency=50, hold=40, delay=10, seed=1),
    "stalls": Timing(latency=5, jitter=10, hold=10, delay=5, stall=0.5, seed=2),
}
CASES, LONG_CASES = 400, 20_000


@cache
def compiled(lanes: int) -> ProcessorSimulation:
    return ProcessorSimulation(ArrayConfig(lanes=lanes))


def work(*buffers: CommandBuffer | list[int], address: int = BUFFER, **settings: Any) -> Work:
    """Buffers one after the other in memory, a line between them, and an image at PROGRAM."""
    memory, indices = settings.pop("memory", None) or Memory(), list[tuple[int, int]]()
    put_small(memory, PROGRAM)
    for buffer in buffers:
        words = buffer if isinstance(buffer, list) else buffer.words
        memory.write(address, np.array(words, "<u4").tobytes())
        indices.append((address, len(words)))
        address += (4 * len(words) + 127) // 64 * 64
    for first, end in settings.get("error_lines", ()):
        memory.respond_with_errors(64 * first, 64 * end)
    return Work(memory=memory, buffers=indices, **settings)


def run(*buffers: CommandBuffer | list[int], lanes: int = 4, timing: Timing = TIMINGS["ideal"], **settings: Any):
    """The outcome of buffers, which is as the reference has it."""
    return check(compiled(lanes), work(*buffers, **settings), timing)


def program(*domain: int) -> CommandBuffer:
    """A buffer that starts the program over a domain, tests never looking at the conditional buffer."""
    return CommandBuffer().set_inst_fmt(PROGRAM).set_domain(*domain).start_program()


def check_cases(simulation: ProcessorSimulation, seeds: range) -> None:
    for seed in seeds:
        case = random_case(seed)
        check(simulation, case.work, case.timing, f"seed {seed}, {simulation.lanes} lanes")


def check_resets(simulation: ProcessorSimulation, seeds: range) -> None:
    """One case is cut off anywhere, and another one after a reset is as if nothing had been."""
    for seed in seeds:
        first, then = random_case(1_000_000 + seed), random_case(2_000_000 + seed)
        simulation.run(first.work, first.timing, cut=1 + 7919 * seed % 1500)
        check(simulation, then.work, then.timing, f"seed {seed}, {simulation.lanes} lanes, after a reset")

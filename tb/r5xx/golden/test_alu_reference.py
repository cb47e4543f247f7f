"""Random ALU and OUTPUT words: the model's arrays against the reference that executes one pixel at a time."""

import numpy as np
import pytest

from ctm.sim.golden.dpp.constants import Constants
from ctm.sim.golden.pe.loader import load
from ctm.sim.golden.r5xx import alu
from ctm.sim.golden.r5xx.decode import decode
from ctm.sim.golden.r5xx.instruction import Alu
from ctm.sim.golden.r5xx.plan import plan
from ctm.sim.golden.r5xx.program import Program
from ctm.sim.golden.r5xx.state import Batch, Control
from ctm.sim.golden.r5xx.writeback import write_back
from ctm.sim.memory import Memory
from ctm.tb.jobs.folder import executable
from ctm.tb.lib.random_values import random_floats
from ctm.tb.r5xx.alu_reference import Context, Instruction, Pixel
from ctm.tb.r5xx.random_alu import TEMPORARIES, random_words

GROUPS, LANES = 6, 4


def batch_of(generator: np.random.Generator, program: Program, loop_index: int) -> Batch:
    """Wavefronts whose lanes have random registers, predicates and activity."""
    size = GROUPS * LANES
    zeros = np.zeros(size, np.int64)
    batch = Batch.start(
        program, LANES, np.arange(GROUPS), zeros, zeros, np.ones(size, bool), np.zeros(size, np.float32)
    )
    batch.control = Control(0, loop_index)
    batch.temporaries.view(np.uint32)[:] = random_floats(generator, batch.temporaries.shape)
    batch.clean = [False] * TEMPORARIES
    batch.predicates[:] = generator.integers(2, size=batch.predicates.shape).astype(bool)
    batch.set_active(generator.integers(4, size=size) > 0)
    return batch


def pixels_of(batch: Batch) -> list[Pixel]:
    words = batch.temporaries.view(np.uint32)
    return [
        Pixel(
            temporaries=[[int(word) for word in words[number, :, lane]] for number in range(TEMPORARIES)],
            predicates=[bool(bit) for bit in batch.predicates[:, lane]],
            active=bool(batch.active[lane]),
        )
        for lane in range(batch.size)
    ]


def compare(batch: Batch, program: Program, expected: list[Pixel], what: str) -> None:
    words = batch.temporaries.view(np.uint32)
    for lane, pixel in enumerate(expected):
        position = f"{what}, lane {lane}"
        found = [[f"{word:08x}" for word in words[number, :, lane]] for number in range(TEMPORARIES)]
        assert found == [[f"{word:08x}" for word in temporary] for temporary in pixel.temporaries], position
        assert [bool(bit) for bit in batch.predicates[:, lane]] == pixel.predicates, position
        assert bool(batch.alu_result[lane]) == pixel.alu_result, position
        assert int(batch.conditional.view(np.uint32)[lane]) == pixel.conditional, position
        written = {
            (target, channel): int(batch.outputs.view(np.uint32)[register, channel, lane])
            for register, target in enumerate(program.outputs)
            for channel in range(4)
            if batch.written[register, channel, lane]
        }
        assert written == pixel.outputs, position


@pytest.mark.parametrize("seed", range(8))
def test_random_instructions_do_to_every_pixel_what_the_words_say(seed: int) -> None:
    generator = np.random.default_rng(seed)
    for number in range(60):
        words = random_words(generator)
        zero_rule = bool(generator.integers(2))
        memory = Memory()
        memory.write(0, executable([words], highest_temporary=TEMPORARIES - 1, us_config=2 * zero_rule, fg_depth_src=1))
        constants = random_floats(generator, (256, 4))
        memory.write(0x20000, constants.tobytes())
        program = Program(image=load(memory, 0, "r5xx"), constants=Constants(memory, 0x20000, 0x30000, 0x31000))
        loop_index = int(generator.choice([0, 1, 5, 130, 300, 511]))
        batch = batch_of(generator, program, loop_index)
        expected = pixels_of(batch)
        instruction = decode(words, code_offset=0, uncached_writes=False)
        assert isinstance(instruction, Alu)
        with np.errstate(all="ignore"):
            results = alu.execute(batch, program, instruction, plan(instruction))
            write_back(batch, program, instruction, results)
        context = Context(constants.tolist(), loop_index, zero_rule)
        for first in range(0, batch.size, 4):
            Instruction(words).execute(expected[first : first + 4], context)
        compare(batch, program, expected, f"seed {seed}, instruction {number}: {' '.join(f'{w:08x}' for w in words)}")

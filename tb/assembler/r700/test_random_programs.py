"""Random structured programs do to every pixel what their statements say."""

import numpy as np
import pytest

from ctm.sim.assembler import assemble, disassemble
from ctm.tb.assembler.r700.running import HEIGHT, WIDTH, run
from ctm.tb.assembler.r700.structured import FLAGS, ROUNDS, RandomProgram
from ctm.tb.lib.seeds import seeds


@pytest.mark.parametrize("seed", seeds(30, of=80))
def test_every_pixel_does_what_the_statements_say(seed: int) -> None:
    program = RandomProgram(seed)
    loops = {number: (rounds, 0, 1) for number, rounds in ROUNDS.items()}
    found = run(program.text, ints=loops, bools=FLAGS[:1])[..., :2]
    expected = [[program.run(float(i), float(j)) for i in range(WIDTH)] for j in range(HEIGHT)]
    np.testing.assert_array_equal(found, expected, program.text)


@pytest.mark.parametrize("seed", range(0, 80, 8))
def test_they_come_back(seed: int) -> None:
    executable = assemble(RandomProgram(seed).text)
    assert assemble(disassemble(executable)) == executable

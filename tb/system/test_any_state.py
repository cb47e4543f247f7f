"""The machine comes up from any state: nothing relies on what an FPGA has in its registers before the reset."""

from pathlib import Path

import pytest

from ctm.rtl.config import DEFAULT, TINY
from ctm.sim.engines.rtl import RtlEngine
from ctm.sim.fault import CycleLimitError, MachineError
from ctm.sim.runtime import CommandBuffer, Device
from ctm.tb.system import soak
from ctm.tb.system.any_state import library, without_start
from ctm.tb.system.soak_work import draw_work

_SEEDS, _PART = 200, 50


def test_only_tables_keep_their_contents() -> None:
    text = (
        "module \\m\n  attribute \\init 1'1\n  wire \\x\n"
        '  cell $meminit_v2 $1\n    parameter \\MEMID "\\\\rom"\n    connect \\DATA 1\'1\n  end\n'
        '  cell $meminit_v2 $2\n    parameter \\MEMID "\\\\ram"\n    connect \\DATA 1\'1\n  end\n'
        '  cell $memwr_v2 $3\n    parameter \\MEMID "\\\\ram"\n    connect \\DATA 1\'1\n  end\n'
        "end\n"
    )
    left = without_start(text)
    assert "init 1" not in left and "$meminit_v2 $1" in left and "$memwr_v2 $3" in left
    assert "$meminit_v2 $2" not in left


@pytest.mark.long
def test_states_are_random_indeed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its reset the machine does not come up."""
    never_reset = library(TINY, monkeypatch, resets=False)
    monkeypatch.setattr(RtlEngine, "library", staticmethod(lambda config, tell=None: never_reset))
    failed = 0
    for _ in range(12):
        try:
            Device("rtl", TINY, max_cycles=20_000).run(CommandBuffer().wait_for_idle())
        except (MachineError, TimeoutError, CycleLimitError):
            failed += 1
    # The register that takes the reset is random, too, and so half of the machines have one.
    assert 0 < failed < 12


@pytest.fixture(scope="module")
def anything() -> Path:
    with pytest.MonkeyPatch.context() as patch:
        return library(DEFAULT, patch)


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, _SEEDS, _PART))
def test_random_work_from_random_states(anything: Path, monkeypatch: pytest.MonkeyPatch, first: int) -> None:
    monkeypatch.setattr(soak.Hardware, "library", staticmethod(lambda config, tell=None: anything))
    for seed in range(first, first + _PART):
        soak.Comparison(draw_work(seed), DEFAULT).run()

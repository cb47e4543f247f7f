"""A profile names the mistake that a program has, and its figures add up to the machine's counters."""

from pathlib import Path

import pytest

from ctm.rtl.config import R700, MachineConfig, with_settings
from ctm.rtl.dpp.watch import Wait
from ctm.sim.engines.seen import Watching
from ctm.sim.fault import MachineError
from ctm.sim.jobs.execution import Execution
from ctm.sim.jobs.loading import LoadedJob
from ctm.sim.profile.advice import advice
from ctm.sim.profile.profile import ProgramProfile, profiles
from ctm.sim.runtime import CommandBuffer
from ctm.tb.lib.machines import BEATS
from ctm.tb.report.planted import PLANTED, Planted
from ctm.tb.report.sums import check_sums


def profile_of(loaded: LoadedJob, config: MachineConfig, watchdog: int = 0) -> tuple[ProgramProfile, Execution]:
    """The profile of a job with one program, which may fail, checked against the counters; and its execution."""
    execution = Execution(loaded, engine="rtl", config=config, watchdog=watchdog, watch=Watching())
    try:
        execution.run()
    except MachineError:
        assert watchdog
    seen = execution.device.seen()
    (found,) = profiles(seen, execution.programs())
    check_sums(seen, [found], execution.device.report())
    return found, execution


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANTED)
def test_the_mistake_that_is_planted_is_named(name: str, tmp_path: Path) -> None:
    planted = PLANTED[name]
    found, _ = profile_of(planted.load(tmp_path), with_settings(BEATS, dict(planted.settings)))
    first, *_ = advice(found)
    assert planted.sentence in first
    assert planted.line is None or f"{planted.file}:{planted.line}" in first


@pytest.mark.slow
def test_what_is_loaded_once_is_not_waited_for_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the sentences on constants and instructions say: a second launch of what was set waits for none."""
    once = CommandBuffer.start_program
    for name, wait in (("constants", Wait.CONSTANT), ("a short launch", Wait.CODE)):
        found = []
        for launch in (once, lambda commands: once(once(commands))):
            monkeypatch.setattr(CommandBuffer, "start_program", launch)
            figures = profile_of(PLANTED[name].load(tmp_path), BEATS)[0].figures
            found.append((figures.issues, figures.waits_for(wait)))
        (issues, waits), (more, no_more) = found
        assert more == 2 * issues and waits == no_more > 0


@pytest.mark.slow
def test_a_program_with_a_fault_has_a_profile_up_to_it(tmp_path: Path) -> None:
    endless = Planted(source="again:\nALU r2 = ADD(r2, 1)\nFC JUMP -> again jump_func=ALWAYS\n", sentence="")
    found, execution = profile_of(endless.load(tmp_path), BEATS, watchdog=100)
    issues = {str(line): figures.issues for line, figures in found.lines.items()}
    assert issues["p.s:2"] >= 50 and sum(issues.values()) == execution.device.report().instructions


@pytest.mark.long
@pytest.mark.parametrize(("groups", "fits"), [(400, True), (3000, False)])
def test_code_that_the_instruction_cache_cannot_keep_is_loaded_in_each_launch(
    groups: int, fits: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = ".isa r700\n" + "ADD R1.x, R1.x, R0.x\n" * groups + "EXPORT_DONE PIX0, R1\n"
    once = CommandBuffer.start_program
    waits = []
    for launch in (once, lambda commands: once(once(commands))):
        monkeypatch.setattr(CommandBuffer, "start_program", launch)
        planted = Planted(source=source, sentence="", size=(4, 4))
        config = with_settings(R700, {"array.threads": 4, "array.lanes": 4})
        found, _ = profile_of(planted.load(tmp_path), config)
        waits.append(found.figures.waits_for(Wait.CODE))
        assert found.code_fits is fits
    assert (waits[0] == waits[1]) is fits and waits[0] > 0

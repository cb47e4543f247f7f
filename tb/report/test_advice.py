"""Sentences of a profile: each appears where its mistake is, names its line, and is silent where there is none."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ctm.examples.catalogue import job
from ctm.rtl.dpp.watch import Wait
from ctm.sim.elf.lines import Line
from ctm.sim.engines.seen import Watching
from ctm.sim.jobs.execution import Execution
from ctm.sim.jobs.loading import load_job
from ctm.sim.profile import advice as thresholds
from ctm.sim.profile.advice import advice
from ctm.sim.profile.figures import WAITS, Figures, total
from ctm.sim.profile.occupancy import Bound, Occupancy, Residency
from ctm.sim.profile.profile import ProgramProfile, Statement, profiles
from ctm.tb.jobs.single import single
from ctm.tb.lib.machines import BEATS

WAITED = dict.fromkeys(WAITS, 0)
JOB = single("p.s", 16, 16, "[constants]\nfloat = {0 = [0.5, 2.0, 1.0, 0.0], 1 = [0.25, 0, 0, 0]}\n")
BODY, WORK = 12, "ALU r2.r = MAD(r2.r, c0.g, c0.g)\n"
DIVERGENT = f"""
; Every second column does all the work.
ALU r1.r = MAD(r0.r, c0.r, 0.0)
ALU r1.r, p.r[!=0] = FRC(r1.r)
IF p.r
{WORK * BODY}ENDIF
OUT o0.r = MOV(r2.r)
"""


def resided(wave_slots: int = 4, exposed: int = 1000) -> Residency:
    """Of a thousand cycles, meanwhile of a hundred lines from memory."""
    return Residency(cycles=1000, occupied=1000 * wave_slots, exposed=exposed, most_from_memory=6400)


def made(
    *figures: Figures, exposed: int = 1000, residency: Residency | None = None, occupancy: Occupancy | None = None
) -> ProgramProfile:
    """A program with a source line for each of these."""
    statements = tuple(
        Statement(unit=number, text=f"text {number}", line=Line("p.s", 10 + number), figures=each)
        for number, each in enumerate(figures)
    )
    residency = residency or resided(exposed=exposed)
    return ProgramProfile(name="p.s", statements=statements, residency=residency, occupancy=occupancy)


def works(**waited: int) -> Figures:
    """An instruction that all lanes execute, after these waits."""
    return Figures(
        issues=100, active=400, working=400, present=400,
        waited=WAITED | {Wait[name.upper()]: count for name, count in waited.items()},
    )  # fmt: skip


def profile_of(path: Path, engine: str) -> ProgramProfile:
    execution = Execution(load_job(path), engine=engine, config=BEATS, watchdog=0, watch=Watching())
    execution.run()
    (found,) = profiles(execution.device.seen(), execution.programs())
    return found


def test_a_program_that_does_well_has_no_sentence() -> None:
    assert advice(made(works(), works(result=300), works(port=250, output=20))) == []
    assert advice(made(Figures(issues=9, active=36, working=36, present=36))) == []
    assert advice(made(Figures())) == []


@pytest.mark.parametrize(
    ("cause", "threshold", "text"),
    [
        (Wait.FETCH, thresholds.FETCHES, "waiting for fetches"),
        (Wait.CONSTANT, thresholds.CONSTANTS, "wait for constants"),
        (Wait.CODE, thresholds.CODE, "wait for instructions"),
        (Wait.REQUEST, thresholds.REQUESTS, "wait for space towards memory"),
    ],
)
def test_a_cause_is_named_beyond_its_threshold_with_its_line(cause: Wait, threshold: float, text: str) -> None:
    # Of 200 issues and the waits; just below it, and above.
    least = round(200 * threshold / (1 - threshold))
    for waits, is_named in ((least - 2, False), (least + 2, True)):
        found = advice(made(works(), works(**{cause.name.lower(): waits})))
        assert bool(found) is is_named
        assert all(text in sentence and "p.s:11" in sentence for sentence in found)


def test_fetches_that_others_hide_are_none_of_the_mistakes() -> None:
    for exposed, is_named in ((round(1000 * thresholds.EXPOSED), False), (round(1000 * thresholds.EXPOSED) + 1, True)):
        assert bool(advice(made(works(), works(fetch=600), exposed=exposed))) is is_named


def test_remedies_are_those_that_there_are() -> None:
    def found(slots: int, **figures: Any) -> str:
        fetches = replace(works(fetch=600), **figures)
        profile = made(fetches, residency=resided(slots), occupancy=Occupancy(wave_slots=4, there_are=4))
        return " ".join(advice(profile))

    assert "more wavefronts" in found(3) and "more wavefronts" not in found(4)
    assert "or fewer lines" in found(4, hits=70, misses=30) and "or fewer lines" not in found(4, hits=75, misses=25)
    assert "memory gives 81%" in found(3, shared_misses=81) and "too few others" in found(3, shared_misses=80)


def test_instructions_that_the_cache_cannot_keep_are_told_from_those_that_are_loaded_once() -> None:
    profile = made(works(code=100))
    assert "which are loaded once" in advice(profile)[0]
    (sentence,) = advice(replace(profile, code_fits=False))
    assert "does not stay in 16 KiB of instruction cache" in sentence


def test_idle_lanes_of_many_lines_are_named_from_the_first_to_the_last() -> None:
    idle = Figures(issues=100, active=100, working=100, present=300)
    (sentence,) = advice(made(works(), *[idle] * 5, Figures()))
    assert "from p.s:11 to p.s:15:" in sentence


def test_idle_lanes_are_named_beyond_a_third_of_those_that_are_there() -> None:
    def half(working: int) -> Figures:
        return Figures(issues=100, active=100, working=working, present=300)

    assert advice(made(half(201), half(201))) == []
    (sentence,) = advice(made(half(300), half(90)))
    assert sentence.startswith("35% of the lanes do nothing") and "100% of them at p.s:11" in sentence


def test_the_most_expensive_comes_first() -> None:
    first, second = advice(made(works(constant=150), works(fetch=600)))
    assert "fetches" in first and "constants" in second


def test_a_divergent_program_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "p.s").write_text(DIVERGENT)
    (tmp_path / "job.toml").write_text(JOB)
    found = profile_of(tmp_path / "job.toml", "golden")
    (sentence,) = advice(found)
    assert "of the lanes do nothing while others of their wavefront work" in sentence
    # Half of the lanes, up to the end of the IF, which they execute too.
    assert found.figures.lost == (BODY + 1) * 16 * 16 // 2


@pytest.mark.slow
def test_a_program_that_waits_for_its_fetches_is_told_where() -> None:
    found = profile_of(job("saxpy"), "rtl")
    (sentence,) = advice(found)
    expensive = max(found.statements, key=lambda each: each.figures.cost)
    assert "waiting for fetches" in sentence and expensive.text.startswith("OUT")
    location = str(expensive.line) if expensive.line else f"instruction {expensive.unit}"
    assert location in sentence


def test_figures_of_lines_add_up() -> None:
    summands = [works(fetch=3), works(result=4), Figures()]
    whole = total(summands)
    assert (whole.issues, whole.active, whole.waited[Wait.FETCH], whole.waited[Wait.RESULT]) == (200, 800, 3, 4)
    assert whole.cost == 207 and whole.efficiency == 1


FETCHES = ("TEX r1.r = LOOKUP(i0, r0.rg) unscaled", "TEX r1.g = LOOKUP(i1, r0.rg) unscaled")


def looked_up(*texts: str, waits: int) -> ProgramProfile:
    """A program of these instructions; from the second one on each waits for fetches."""
    statements = tuple(
        Statement(unit=number, text=text, line=Line("p.s", 10 + number), figures=works(fetch=waits * (number > 0)))
        for number, text in enumerate(texts)
    )
    return ProgramProfile(name="p.s", statements=statements)


def test_fetches_into_channels_of_one_register_are_named() -> None:
    others = ["ALU r5 = MOV(r6)"] * 8
    (sentence,) = advice(looked_up(*FETCHES, waits=500))
    assert "other channels of r1: fetches into registers of their own run together" in sentence and "p.s:11" in sentence
    quick = round(thresholds.ONE_REGISTER * 200) - 2
    assert advice(looked_up(*FETCHES, waits=quick)) == []
    for needed in (
        "TEX r2.g = LOOKUP(i1, r0.rg) unscaled",  # Another register.
        "TEX r1.r = LOOKUP(i1, r0.rg) unscaled",  # The same channel: it has to come later.
        "TEX r1.g = LOOKUP(i1, r1.rr) unscaled",  # It reads what the other one found.
    ):
        assert all("run together" not in each for each in advice(looked_up(FETCHES[0], needed, waits=500)))
    assert all("run together" not in each for each in advice(looked_up(FETCHES[0], *others, FETCHES[1], waits=20)))


def bounded(wave_slots: int, in_use: int, exposed: int) -> ProgramProfile:
    """A program of which so many wavefronts fit a core of sixteen wave slots, and so many are there."""
    bound = Bound(what="registers", amount=33, at_most=32) if wave_slots < 16 else None
    fits = Occupancy(wave_slots=wave_slots, there_are=16, bound=bound)
    return made(works(), occupancy=fits, residency=resided(in_use, exposed))


def test_registers_that_leave_few_wavefronts_are_named_where_those_wait() -> None:
    exposed = round(1000 * thresholds.EXPOSED)
    (sentence,) = advice(bounded(4, 4, exposed + 10))
    assert sentence.startswith("33 registers leave 4 of 16 wave slots, and in 26% of the cycles all wavefronts wait")
    assert "with 32 or less there are more" in sentence
    for wave_slots, in_use, waits in ((4, 4, exposed), (4, 3, 1000), (16, 16, 1000)):
        assert advice(bounded(wave_slots, in_use, waits)) == []

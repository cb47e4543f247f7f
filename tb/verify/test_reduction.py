"""Failing cases become as small as they can be, and stay the same fault."""

from collections.abc import Sequence

import pytest

from ctm.tb.verify.campaign import Case, Found, tried
from ctm.tb.verify.reduction import reduce
from ctm.tb.verify.stub import LENGTH, Stub


def test_what_fails_is_left_with_what_defines_it() -> None:
    """3 and 31 make it fail; without 8 it would not be defined; 5 would make it fail in another manner."""
    campaign, case = Stub(), {"seed": 7}
    reduced = reduce(campaign, case, campaign.run(case), seconds=60)
    assert reduced.case == {"seed": 7, "program": ["3", "8", "31"], "width": 1}
    assert reduced.is_complete and reduced.tries < LENGTH * 5
    assert reduced.found.difference == "seed 7: 3 numbers, width 1"


def test_a_case_that_cannot_be_opened_is_kept() -> None:
    class Closed(Stub):
        def opened(self, case: Case) -> Case:
            return case

    case = {"seed": 7}
    reduced = reduce(Closed(), case, Closed().run(case), seconds=60)
    assert (reduced.case, reduced.tries, reduced.is_complete) == (case, 0, False)


def test_a_case_that_does_not_fail_again_is_kept() -> None:
    reduced = reduce(Stub(), {"seed": 8}, Found("once", "numbers"), seconds=60)
    assert (reduced.case, reduced.tries, reduced.is_complete) == ({"seed": 8}, 1, False)
    assert reduced.found.difference == "once"


def test_what_is_no_program_is_passed_over() -> None:
    """Half of the candidates cannot be assembled, and a few cannot even be written."""

    class Strict(Stub):
        def kept(self, case: Case, items: Sequence[int]) -> Case | None:
            if len(items) % 2:
                raise ValueError("an odd number of lines")
            found = super().kept(case, items)
            assert found is not None
            return found if "4" in found["program"] else {**found, "program": ["-1"]}

    case = {"seed": 7}
    reduced = reduce(Strict(), case, Strict().run(case), seconds=60)
    assert reduced.is_complete and {"3", "4", "8", "31"} <= set(reduced.case["program"])
    assert len(reduced.case["program"]) < LENGTH


def test_what_a_fault_upsets_is_a_difference_too() -> None:
    class Upset(Stub):
        def run(self, case: Case) -> Found:
            if super().run(case).kind == "numbers":
                raise KeyError("a step that the model has not")
            return Found()

    case = {"seed": 7}
    found = tried(Upset(), case)
    assert (found.kind, found.difference) == ("KeyError", "KeyError: 'a step that the model has not'")
    reduced = reduce(Upset(), case, found, seconds=60)
    assert reduced.case["program"] == ["3", "8", "31"]


def test_when_the_time_is_over_the_smallest_so_far_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter(range(1000))
    monkeypatch.setattr("ctm.tb.verify.reduction.time.monotonic", lambda: float(next(ticks)))
    case = {"seed": 7}
    reduced = reduce(Stub(), case, Stub().run(case), seconds=9.0)
    assert not reduced.is_complete and 3 < len(reduced.case["program"]) < LENGTH
    assert Stub().run(reduced.case).difference == reduced.found.difference

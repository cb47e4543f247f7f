"""Faults name the line of the source that they are of, on every engine."""

import pytest

from ctm.tb.runtime.faulty import CASES, HERE, Faulty, fault

SOME = [case for case in CASES if case.name in ("an operation of the RGB unit", "a jump to itself", "an operation",
                                                "more on the stack than there is", "a texel")]  # fmt: skip


def check(case: Faulty, engine: str) -> None:
    error = fault(case.program(), engine, failing=case.failing)
    assert error.status is case.status, error
    assert (error.file, error.line in case.lines) == (case.file, True), error
    assert error.source is not None and error.source.endswith(HERE)
    assert f", {case.file}:{error.line}, wavefront of" in str(error)
    assert str(error).endswith(f"\n    {error.source}")


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("engine", ["golden", "fast"])
def test_a_fault_names_its_line(engine: str, case: Faulty) -> None:
    check(case, engine)


@pytest.mark.parametrize("case", SOME, ids=str)
def test_a_fault_of_hardware_names_its_line(case: Faulty) -> None:
    check(case, "rtl")


@pytest.mark.long
@pytest.mark.parametrize("case", [case for case in CASES if case not in SOME], ids=str)
def test_every_fault_of_hardware_names_its_line(case: Faulty) -> None:
    check(case, "rtl")


@pytest.mark.parametrize("case", [case for case in SOME if case.status.name == "ILLEGAL_INSTRUCTION"], ids=str)
def test_hardware_says_what_the_golden_model_says(case: Faulty) -> None:
    golden, rtl = (fault(case.program(), engine) for engine in ("golden", "rtl"))
    assert golden.detail
    assert str(rtl) == str(golden)

"""Campaigns find planted faults of the hardware, and reduce them."""

from pathlib import Path

import pytest

from ctm.tb.verify.catalogue import CAMPAIGNS
from ctm.tb.verify.planted import catch, planted

FAULTS = planted()
MOST_ITEMS = 12
_MINUTES = 10.0


def test_each_fault_can_be_planted() -> None:
    assert len({fault.mutant.name for fault in FAULTS}) == len(FAULTS) >= 20
    assert {fault.campaign for fault in FAULTS} <= CAMPAIGNS.keys()
    assert {fault.file.split("/")[1] for fault in FAULTS} == {"r5xx", "r700", "dpp", "fp", "mc", "pa", "vgt"}
    assert sum(fault.campaign == "draws" for fault in FAULTS) >= 8


def test_a_fault_whose_line_has_changed_is_an_error() -> None:
    fault = FAULTS[0]
    other = type(fault)(**{**vars(fault), "line": "pops = 0"})
    with pytest.raises(ValueError, match=r"control\.py has no line 'pops = 0' with 'branches of Mux swapped'"):
        _ = other.mutant


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS, ids=[fault.about for fault in FAULTS])
def test_a_fault_is_found_in_ten_minutes_and_reduced(fault: object, tmp_path: Path) -> None:
    """Ten minutes of two processors, after the hardware is compiled."""
    caught = catch(fault, tmp_path, minutes=_MINUTES)  # type: ignore[arg-type]
    assert caught.status == 1, caught.output
    assert caught.sizes and min(caught.sizes) <= MOST_ITEMS, caught.output

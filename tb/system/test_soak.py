"""Random work for the whole machine: compiled hardware and golden model agree in errors and in all of memory."""

import pytest

from rtl.config import DEFAULT, MachineConfig, with_settings
from rtl.isa.status import BusClient, Status
from tb.system.soak import Comparison, Outcome
from tb.system.soak_work import draw_work

_RUNS, _LONG_RUNS = 240, 10_000
_PART = 20
_OTHER = {
    "one port of 64 bits": {"memory.split": 1 << 32, "memory.data_bits": 64, "array.threads": 4},
    "eight lanes, two cores, 256 bits": {"array.lanes": 8, "array.cores": 2, "memory.data_bits": 256},
}


def check(seeds: range, config: MachineConfig) -> list[Outcome]:
    """Run the work of seeds; how buffers ended."""
    return [outcome for seed in seeds for outcome in Comparison(draw_work(seed), config).run()]


@pytest.mark.parametrize("first", range(0, _RUNS, _PART))
def test_random_work_leaves_the_same_errors_and_the_same_memory(first: int) -> None:
    check(range(first, first + _PART), DEFAULT)


@pytest.mark.long
def test_much_random_work_reaches_every_error_and_every_client() -> None:
    outcomes = check(range(_RUNS, _LONG_RUNS), DEFAULT)
    asked_for = {Status.HAZARD, Status.QUEUE_FULL, Status.RESET}
    assert {outcome.status for outcome in outcomes} == set(Status) - asked_for
    assert {outcome.client for outcome in outcomes} == {None, *BusClient}


@pytest.mark.long
@pytest.mark.parametrize("settings", _OTHER.values(), ids=_OTHER.keys())
def test_other_machines_agree_too(settings: dict[str, int]) -> None:
    check(range(300), with_settings(DEFAULT, settings))

"""What a run says of its counters."""

import pytest

from ctm.rtl.config import ArrayConfig
from ctm.rtl.isa.host import COUNTERS
from ctm.sim.report.utilisation import utilisation

NOTHING = dict.fromkeys(map(str.lower, COUNTERS), 0)


def test_shares_are_per_cycle_and_core() -> None:
    counters = NOTHING | {"issued_alu": 600, "stall_lookups": 100, "stall_latency": 300}
    counters |= {"input_hits": 90, "input_misses": 10, "shared_hits": 1, "shared_misses": 9}
    used = utilisation(counters, cycles=500, array=ArrayConfig(cores=2))
    assert used.alu_share == pytest.approx(0.6)
    assert used.stall_shares == pytest.approx(
        {"lookups": 0.1, "loading": 0.0, "requests": 0.0, "latency": 0.3, "ends": 0.0}
    )
    assert used.hit_rates == pytest.approx({"input": 0.9, "shared": 0.1})
    assert str(used).splitlines() == [
        "ALU issue in 60.0 % of the cycles of a core; greatest stall: latency, in 30.0 % of them",
        "hits: input cache 90.0 %, its second level 10.0 %",
    ]


def test_a_run_of_nothing_used_nothing() -> None:
    used = utilisation(NOTHING, cycles=0, array=ArrayConfig())
    assert (used.alu_share, used.hit_rates) == (0.0, {})
    assert str(used).count("\n") == 0


@pytest.mark.parametrize("array", [ArrayConfig(instruction_set="r700", wavefront=16), ArrayConfig(rate=1)])
def test_a_group_takes_lanes_for_as_many_cycles_as_it_has_segments(array: ArrayConfig) -> None:
    used = utilisation(NOTHING | {"issued_alu": 200}, cycles=1000, array=array)
    assert used.alu_share == pytest.approx(0.8)

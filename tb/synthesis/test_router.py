"""When a router is ended: overused wires of its iterations."""

from contextlib import nullcontext

import pytest

from ctm.sim.synthesis import placing


@pytest.mark.parametrize(
    ("fewest", "more", "failed"),
    [(499, 119, False), (499, 120, True), (500, 29, False), (500, 30, True)],
)
def test_a_router_may_have_few_wires_to_resolve_for_long(fewest: int, more: int, failed: bool) -> None:
    with pytest.raises(placing.UnroutedError) if failed else nullcontext():
        placing._check([fewest + 1, fewest, *[fewest + 9] * more])

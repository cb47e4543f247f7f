"""Random draws leave the same bits on golden and `fast`, and with wavefronts of every size."""

import pytest

from ctm.tb.draws.random_draws import scene
from ctm.tb.draws.scene import Drawn, drawn, same_on_both
from ctm.tb.lib.some import fewer, some


def bits(found: Drawn) -> list[bytes]:
    return [found.target.tobytes(), found.depth.tobytes(), *(stream.tobytes() for stream in found.streams)]


@pytest.mark.parametrize("batch", some(range(4), 4))
def test_engines_leave_the_same_bits(batch: int) -> None:
    covered = sum(same_on_both(scene(seed)).covered.any() for seed in range(15 * batch, 15 * (batch + 1)))
    assert covered > 3


@pytest.mark.parametrize("batch", range(2))
def test_wavefronts_of_every_size_leave_the_same_bits(batch: int) -> None:
    for seed in range(100 + 10 * batch, 100 + 10 * batch + fewer(10)):
        made = scene(seed)
        first, *others = (bits(drawn(made, wavefront=size)) for size in (4, 16, 64))
        assert others == [first, first], seed


@pytest.mark.long
@pytest.mark.parametrize("batch", range(30))
def test_three_thousand_draws_leave_the_same_bits(batch: int) -> None:
    for seed in range(1000 + 100 * batch, 1100 + 100 * batch):
        same_on_both(scene(seed))

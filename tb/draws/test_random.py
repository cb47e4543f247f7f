"""Random draws leave the same bits on golden and `fast`, and with wavefronts of every size."""

import pytest

from ctm.tb.draws.random_draws import scene
from ctm.tb.draws.scene import Drawn, drawn, same_on_both
from ctm.tb.lib.some import some


def bits(found: Drawn) -> list[bytes]:
    return [found.target.tobytes(), found.depth.tobytes(), *(stream.tobytes() for stream in found.streams)]


@pytest.mark.parametrize("part", some(range(4), 4))
def test_engines_leave_the_same_bits(part: int) -> None:
    covered = sum(same_on_both(scene(seed)).covered.any() for seed in range(15 * part, 15 * (part + 1)))
    assert covered > 3


@pytest.mark.parametrize("part", range(2))
def test_wavefronts_of_every_size_leave_the_same_bits(part: int) -> None:
    for seed in range(100 + 10 * part, 110 + 10 * part):
        made = scene(seed)
        first, *others = (bits(drawn(made, wavefront=size)) for size in (4, 16, 64))
        assert others == [first, first], seed


@pytest.mark.long
@pytest.mark.parametrize("part", range(30))
def test_three_thousand_draws_leave_the_same_bits(part: int) -> None:
    for seed in range(1000 + 100 * part, 1100 + 100 * part):
        same_on_both(scene(seed))

"""Domains become tiles that cover each pixel once and keep wavefronts whole."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctm.sim.split.rectangle import COLUMNS, ROWS, Rectangle, tile_size, tiles


@given(st.integers(0, 300), st.integers(0, 300), st.integers(1, 400), st.integers(1, 400), st.integers(1, 40))
def test_tiles_cover_each_pixel_once(i: int, j: int, width: int, height: int, count: int) -> None:
    domain = Rectangle(j, i, j + height - 1, i + width - 1)
    seen = np.zeros((j + height, i + width), np.int32)
    for tile in tiles(domain, tile_size(domain, count)):
        assert tile.width > 0 and tile.height > 0
        assert tile.i0 == i or (tile.i0 - (i & ~1)) % COLUMNS == 0
        assert tile.j0 == j or (tile.j0 - (j & ~1)) % ROWS == 0
        seen[tile.slices] += 1
    assert (seen[domain.slices] == 1).all() and seen.sum() == width * height


@pytest.mark.parametrize(
    ("side", "count", "size"),
    [(4096, 16, (1024, 1024)), (128, 16, (32, 32)), (32768, 64, (4096, 4096)), (4096, 2, (4096, 2048))],
)
def test_tiles_are_as_many_as_are_wanted(side: int, count: int, size: tuple[int, int]) -> None:
    domain = Rectangle(0, 0, side - 1, side - 1)
    assert tile_size(domain, count) == size
    assert len(tiles(domain, size)) == count


def test_a_domain_has_no_more_tiles_than_it_has_wavefronts() -> None:
    domain = Rectangle(3, 5, 6, 40)
    assert len(tiles(domain, tile_size(domain, 1000))) == 2 * 3

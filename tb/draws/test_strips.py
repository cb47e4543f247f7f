"""Strips by hand: which wavefronts of pixels a shape takes in a domain, their order, and how many come together."""

from dataclasses import replace

import numpy as np
import pytest

from ctm.sim.golden.draw import strips as module
from ctm.sim.golden.draw.setup import RECORD_ROWS, Shapes
from ctm.sim.golden.draw.strips import Strips, bounds_in, strips_of
from ctm.sim.golden.pe.domain import Domain

LANES = 8
"""Two quads: a strip is 4 pixels wide and 2 high."""
ALL = Domain(i0=0, j0=0, i1=31, j1=31)


def squares(*bounds: tuple[int, int, int, int]) -> Shapes:
    """Shapes of these bounds: first and last column, first and last row."""
    n = len(bounds)
    numbers = np.arange(n)
    return Shapes(
        primitive=numbers, corners=np.zeros((n, 3), int), provoking=numbers, bounds=np.array(bounds).reshape(n, 4),
        edges=np.zeros((n, 3, 3), np.int64), ties=np.ones((n, 3), bool),
        record=np.zeros((n, RECORD_ROWS, 4), np.float32),
    )  # fmt: skip


def found(shapes: Shapes, domain: Domain = ALL, most: int = 1 << 16, lanes: int = LANES) -> list[Strips]:
    return list(strips_of(shapes, domain, lanes, most))


def firsts(strips: Strips, lanes: int = LANES) -> list[tuple[int, int, int]]:
    """Shape and first pixel of each strip."""
    return list(zip(strips.shape.tolist(), strips.i[::lanes].tolist(), strips.j[::lanes].tolist(), strict=True))


def covered(strips: Strips) -> list[tuple[int, int]]:
    return sorted(zip(strips.i[strips.covered].tolist(), strips.j[strips.covered].tolist(), strict=True))


def test_lanes_are_quads_beside_each_other() -> None:
    (one,) = found(squares((5, 6, 3, 3)))
    assert firsts(one) == [(0, 4, 2)]
    assert one.i.tolist() == [4, 5, 4, 5, 6, 7, 6, 7] and one.j.tolist() == [2, 2, 3, 3, 2, 2, 3, 3]
    assert covered(one) == [(5, 3), (6, 3)] and one.edges.shape == (3, LANES)


def test_strips_follow_each_other_in_rows_upward_and_shape_after_shape() -> None:
    (both,) = found(squares((3, 8, 1, 2), (0, 0, 0, 0)))
    rows = [(0, 0, 0), (0, 4, 0), (0, 8, 0), (0, 0, 2), (0, 4, 2), (0, 8, 2)]
    assert firsts(both) == [*rows, (1, 0, 0)]


def test_strips_are_aligned_to_the_left_even_column_of_the_domain() -> None:
    domain = Domain(i0=7, j0=5, i1=12, j1=8)
    (all_of_it,) = found(squares((0, 31, 0, 31)), domain)
    assert firsts(all_of_it) == [(0, 6, 4), (0, 10, 4), (0, 6, 6), (0, 10, 6), (0, 6, 8), (0, 10, 8)]
    assert covered(all_of_it) == [(i, j) for i in range(7, 13) for j in range(5, 9)]
    (one,) = found(squares((11, 11, 8, 8)), domain)
    assert firsts(one) == [(0, 10, 8)] and covered(one) == [(11, 8)]


def test_bounds_end_where_the_domain_does() -> None:
    domain = Domain(i0=7, j0=5, i1=12, j1=8)
    shapes = squares(
        (0, 31, 0, 31), (8, 9, 6, 7), (0, 6, 5, 8), (13, 20, 5, 8), (7, 12, 0, 4), (7, 12, 9, 9), (9, 8, 5, 8)
    )
    given = bounds_in(shapes, domain)
    assert given[:2].tolist() == [[7, 12, 5, 8], [8, 9, 6, 7]]
    # There is neither a column nor a row of the others.
    assert (given[2:, 1] < given[2:, 0]).all() and (given[2:, 3] < given[2:, 2]).all()
    assert [firsts(each) for each in found(shapes, domain)] == [
        [(0, 6, 4), (0, 10, 4), (0, 6, 6), (0, 10, 6), (0, 6, 8), (0, 10, 8), (1, 6, 6)]
    ]


def test_nothing_is_covered_of_nothing() -> None:
    assert found(squares()) == []
    assert found(squares((0, 9, 0, 9)), Domain(i0=5, i1=4)) == []
    assert found(squares((40, 50, 0, 9))) == []


def test_a_shape_between_the_centres_of_pixels_covers_nothing() -> None:
    for bounds in ((0, -1, 0, 5), (0, 5, 0, -1), (0, -1, 0, -1), (1, 0, 1, 0)):
        assert found(squares(bounds)) == []


def test_an_edge_takes_a_pixel_by_its_tie() -> None:
    # E = x - 2 of one edge after the other: 0 at column 2.
    shapes = squares((0, 3, 0, 0))
    for edge in range(3):
        edges = np.zeros((1, 3, 3), np.int64)
        edges[0, edge] = [1, 0, -2]
        for tie, columns in ((True, [2, 3]), (False, [3])):
            ties = np.ones((1, 3), bool)
            ties[0, edge] = tie
            (one,) = found(replace(shapes, edges=edges, ties=ties))
            assert covered(one) == [(column, 0) for column in columns]
            assert one.edges[edge].tolist() == (one.i - 2).tolist() and not one.edges[edge - 1].any()
    # And 3 y - 5 x + 7.
    edges = np.zeros((1, 3, 3), np.int64)
    edges[0, 1] = [-5, 3, 7]
    (one,) = found(replace(squares((0, 3, 0, 3)), edges=edges))
    assert one.edges[1].tolist() == (3 * one.j - 5 * one.i + 7).tolist()
    assert covered(one) == [(i, j) for i in range(4) for j in range(4) if 3 * j - 5 * i + 7 >= 0]


def test_strips_without_a_pixel_are_not_given() -> None:
    edges = np.zeros((1, 3, 3), np.int64)
    edges[0, 0] = [1, 0, -9]
    (one,) = found(replace(squares((0, 11, 0, 3)), edges=edges))
    assert firsts(one) == [(0, 8, 0), (0, 8, 2)]


@pytest.mark.parametrize("most", [1, 2, 3, 5, 6])
def test_at_most_as_many_lanes_come_together(most: int) -> None:
    shapes = squares((0, 11, 0, 3), (0, 3, 0, 1), (4, 4, 0, 7))
    (whole,) = found(shapes)
    found_strips = found(shapes, most=most * LANES)
    sizes = [len(each.shape) for each in found_strips]
    total = 6 + 1 + 4
    assert sizes == [most] * (total // most) + ([total % most] if total % most else [])
    for name in ("shape", "i", "j", "covered", "edges"):
        joined = np.concatenate([getattr(each, name) for each in found_strips], axis=-1)
        assert joined.tolist() == getattr(whole, name).tolist()


def test_candidates_that_are_tested_one_by_one_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    shapes = squares((0, 11, 0, 3), (50, 60, 0, 1), (0, 3, 0, 1), (4, 4, 0, 7))
    (whole,) = found(shapes)
    for candidates in (1, 2, 5, 6):
        monkeypatch.setattr(module, "_CANDIDATES", candidates * LANES)
        (again,) = found(shapes)
        assert firsts(again) == firsts(whole) and again.covered.tolist() == whole.covered.tolist()


def test_chosen_strips_keep_what_they_have() -> None:
    (whole,) = found(squares((0, 11, 0, 1)))
    whole = replace(whole, edges=np.arange(3 * 3 * LANES).reshape(3, -1))
    for chosen in (slice(1, None), np.array([False, True, True])):
        some = whole.select(chosen, LANES)
        assert firsts(some) == [(0, 4, 0), (0, 8, 0)]
        assert some.edges.tolist() == whole.edges[:, LANES:].tolist() and some.covered.tolist() == [True] * 2 * LANES

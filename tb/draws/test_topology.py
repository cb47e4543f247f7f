"""Which vertices form which primitive, from the tables of docs/draws.md and the manual of OpenGL, by hand."""

import numpy as np
import pytest

from ctm.rtl.isa.draws import PrimitiveType
from ctm.sim.golden.draw.topology import primitives_of

Rows = list[list[int]]
ADJACENT_6 = [[0, 1, 2, 5, 4, 3]]
"""A triangle of a strip with adjacency: first corner, neighbour, second, neighbour, third, neighbour."""
ADJACENT_8 = [[0, 1, 2, 6, 4, 3], [2, 5, 6, 7, 4, 0]]
"""The second one is (4, 2, 6), rotated by two; across (2, 6) is 5, across (6, 4) the last 7, across (4, 2) corner 0."""
ADJACENT_10 = [[0, 1, 2, 6, 4, 3], [2, 5, 6, 8, 4, 0], [4, 2, 6, 9, 8, 7]]
ADJACENT_12 = [[0, 1, 2, 6, 4, 3], [2, 5, 6, 8, 4, 0], [4, 2, 6, 10, 8, 7], [6, 9, 10, 11, 8, 4]]

FORMS = [
    ("POINTLIST", 3, [[0], [1], [2]], None, [0, 1, 2], [0, 1, 2]),
    ("LINELIST", 5, [[0, 1], [2, 3]], None, [1, 3], [0, 2]),
    ("LINESTRIP", 4, [[0, 1], [1, 2], [2, 3]], None, [1, 2, 3], [0, 1, 2]),
    ("LINELOOP", 3, [[0, 1], [1, 2], [2, 0]], None, [1, 2, 0], [0, 1, 2]),
    ("LINELOOP", 2, [[0, 1], [1, 0]], None, [1, 0], [0, 1]),
    ("LINELOOP", 1, [], None, [], []),
    ("LINELIST_ADJ", 9, [[0, 1, 2, 3], [4, 5, 6, 7]], None, [2, 6], [1, 5]),
    ("LINESTRIP_ADJ", 5, [[0, 1, 2, 3], [1, 2, 3, 4]], None, [2, 3], [1, 2]),
    ("TRILIST", 7, [[0, 1, 2], [3, 4, 5]], None, [2, 5], [0, 3]),
    ("TRILIST", 9, [[0, 1, 2], [3, 4, 5], [6, 7, 8]], None, [2, 5, 8], [0, 3, 6]),
    ("TRISTRIP", 6, [[0, 1, 2], [2, 1, 3], [2, 3, 4], [4, 3, 5]], [[0, 1, 2], [1, 3, 2], [2, 3, 4], [3, 5, 4]],
     [2, 3, 4, 5], [0, 1, 2, 3]),
    ("TRIFAN", 5, [[0, 1, 2], [0, 2, 3], [0, 3, 4]], [[1, 2, 0], [2, 3, 0], [3, 4, 0]], [2, 3, 4], [1, 2, 3]),
    ("TRILIST_ADJ", 13, [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]], None, [4, 10], [0, 6]),
    ("TRISTRIP_ADJ", 6, ADJACENT_6, None, [4], [0]),
    ("TRISTRIP_ADJ", 7, ADJACENT_6, None, [4], [0]),
    ("TRISTRIP_ADJ", 8, ADJACENT_8, None, [4, 6], [0, 2]),
    ("TRISTRIP_ADJ", 10, ADJACENT_10, None, [4, 6, 8], [0, 2, 4]),
    ("TRISTRIP_ADJ", 12, ADJACENT_12, None, [4, 6, 8, 10], [0, 2, 4, 6]),
]  # fmt: skip
"""Kind, vertices, corners where the last vertex is the provoking one and where it is the first (None: the same), and
which is it."""


@pytest.mark.parametrize(("kind", "count", "last", "first", "provoking_last", "provoking_first"), FORMS)
def test_a_kind_forms_its_primitives(
    kind: str, count: int, last: Rows, first: Rows | None, provoking_last: list[int], provoking_first: list[int]
) -> None:
    for convention, corners, provoking in ((True, last, provoking_last), (False, first or last, provoking_first)):
        found = primitives_of(PrimitiveType[kind], np.array([count]), provoking_last=convention)
        assert found.corners.tolist() == corners
        assert found.provoking.tolist() == provoking


@pytest.mark.parametrize(("kind", "corners"), [
    ("POINTLIST", 1), ("LINELIST", 2), ("LINESTRIP", 2), ("LINELOOP", 2), ("LINELIST_ADJ", 4), ("LINESTRIP_ADJ", 4),
    ("TRILIST", 3), ("TRISTRIP", 3), ("TRIFAN", 3), ("TRILIST_ADJ", 6), ("TRISTRIP_ADJ", 6),
])  # fmt: skip
def test_too_few_vertices_form_nothing(kind: str, corners: int) -> None:
    for count in range(corners if kind != "LINELOOP" else 2):
        found = primitives_of(PrimitiveType[kind], np.array([count]), provoking_last=True)
        assert found.corners.shape == (0, corners) and found.provoking.shape == (0,)
    # Next to a run that forms one it takes nothing away.
    lengths = np.array([0, corners, 1, corners] if corners > 1 else [0, 1, 0, 1])
    assert len(primitives_of(PrimitiveType[kind], lengths, provoking_last=True).corners) == (
        4 if kind == "LINELOOP" else 2
    )


def test_runs_begin_anew() -> None:
    # Runs of vertices 0 to 1, 2 to 5, none, and 6 to 8: the second triangle of the second run is an odd one.
    lengths = np.array([2, 4, 0, 3])
    found = primitives_of(PrimitiveType.TRISTRIP, lengths, provoking_last=True)
    assert found.corners.tolist() == [[2, 3, 4], [4, 3, 5], [6, 7, 8]] and found.provoking.tolist() == [4, 5, 8]
    fan = primitives_of(PrimitiveType.TRIFAN, lengths, provoking_last=False)
    assert fan.corners.tolist() == [[3, 4, 2], [4, 5, 2], [7, 8, 6]] and fan.provoking.tolist() == [3, 4, 7]
    loop = primitives_of(PrimitiveType.LINELOOP, lengths, provoking_last=True)
    assert loop.corners.tolist() == [[0, 1], [1, 0], [2, 3], [3, 4], [4, 5], [5, 2], [6, 7], [7, 8], [8, 6]]
    adjacent = primitives_of(PrimitiveType.TRISTRIP_ADJ, np.array([6, 8]), provoking_last=True)
    assert adjacent.corners.tolist() == ADJACENT_6 + [[6 + corner for corner in row] for row in ADJACENT_8]


def test_lengths_of_any_type_do() -> None:
    # The sums of lengths leave 32 bits.
    found = primitives_of(PrimitiveType.POINTLIST, np.array([1, 1], np.uint8), provoking_last=True)
    assert found.corners.tolist() == [[0], [1]] and found.corners.dtype == np.int64
    many = primitives_of(PrimitiveType.TRISTRIP, np.array([200, 100, 3], np.uint8), provoking_last=True)
    assert many.corners[-1].tolist() == [300, 301, 302] and len(many.corners) == 198 + 98 + 1

"""Rectangles of pixels, and the division of a domain into tiles."""

from dataclasses import dataclass

from ctm.rtl.isa.limits import COORDINATE_LIMIT

COLUMNS, ROWS = 32, 2
"""Tiles begin at multiples of these from the domain's first even column and row on.

The widest wavefront, 64 pixels, has 16 quads of one row. So each wavefront of a tile has the pixels that it has in one
run, and uncovered ones are where they are there.
"""


@dataclass(frozen=True, order=True)
class Rectangle:
    """Pixels with i0 <= i <= i1 and j0 <= j <= j1; rows come first in the order of rectangles."""

    j0: int
    i0: int
    j1: int
    i1: int

    @property
    def width(self) -> int:
        """Columns."""
        return self.i1 - self.i0 + 1

    @property
    def height(self) -> int:
        """Rows."""
        return self.j1 - self.j0 + 1

    @property
    def slices(self) -> tuple[slice, slice]:
        """Its elements in an array [height, width, ...]."""
        return slice(self.j0, self.j1 + 1), slice(self.i0, self.i1 + 1)

    def inside(self, width: int, height: int) -> "Rectangle | None":
        """What of it is inside an array of this size; None if nothing is."""
        i1, j1 = min(self.i1, width - 1), min(self.j1, height - 1)
        return Rectangle(self.j0, self.i0, j1, i1) if self.i0 <= i1 and self.j0 <= j1 else None

    def moved(self, i: int, j: int) -> "Rectangle":
        """It i columns and j rows further."""
        return Rectangle(self.j0 + j, self.i0 + i, self.j1 + j, self.i1 + i)

    def wavefronts(self) -> "Rectangle":
        """It with the uncovered pixels of its wavefronts, whatever their size."""
        i0, j0 = self.i0 & ~1, self.j0 & ~1
        return Rectangle(j0, i0, self.j1 | 1, i0 + -(-(self.i1 + 1 - i0) // COLUMNS) * COLUMNS - 1)

    def __str__(self) -> str:
        return f"i {self.i0}..{self.i1}, j {self.j0}..{self.j1}"


def tile_size(domain: Rectangle, count: int, most: int = COORDINATE_LIMIT) -> tuple[int, int]:
    """Columns and rows of the tiles of a domain that is not empty: `count`, or as many as there can be.

    There are more where tiles would have more than `most` columns or rows, a multiple of COLUMNS.
    """
    i, j = domain.i0 & ~1, domain.j0 & ~1
    columns, rows = -(-(domain.i1 + 1 - i) // COLUMNS), -(-(domain.j1 + 1 - j) // ROWS)
    least_across, least_up = -(-columns * COLUMNS // most), -(-rows * ROWS // most)
    count = max(min(count, columns * rows), least_across * least_up)

    def size(across: int) -> tuple[int, int]:
        up = max(least_up, min(rows, -(-count // across)))
        return -(-columns // across) * COLUMNS, -(-rows // up) * ROWS

    # As many as are wanted, with the least halo; of those that are alike whole rows, which lie side by side in memory.
    return min(
        map(size, range(least_across, max(least_across, min(columns, count)) + 1)),
        key=lambda each: (abs(_number(domain, each) - count), sum(each), -each[0]),
    )


def tiles(domain: Rectangle, size: tuple[int, int]) -> list[Rectangle]:
    """The domain in tiles of a size, in rows; those at its ends may be smaller."""
    i, j = domain.i0 & ~1, domain.j0 & ~1
    width, height = size
    return [
        Rectangle(
            max(domain.j0, bottom), max(domain.i0, left),
            min(domain.j1, bottom + height - 1), min(domain.i1, left + width - 1),
        )
        for bottom in range(j, domain.j1 + 1, height)
        for left in range(i, domain.i1 + 1, width)
    ]  # fmt: skip


def _number(domain: Rectangle, size: tuple[int, int]) -> int:
    return -(-(domain.i1 + 1 - (domain.i0 & ~1)) // size[0]) * -(-(domain.j1 + 1 - (domain.j0 & ~1)) // size[1])

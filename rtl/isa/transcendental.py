"""Datapath of the transcendental unit: widths, and where each function's segments lie in its table.

All six functions reduce to one of eight on an argument x in [0, 1) of 25 bits, and all use one datapath. The upper bits
of x choose a segment of 2^width_bits arguments and so a table entry; the lower ones, with the highest inverted, are the
signed distance d from the segment's middle. In integers, >> rounding down:

    square = d * d >> SQUARE_SHIFT
    sum = ((c0 << SUM_SHIFT) + c1 * d + (c2 * square << SQUARE_ALIGNMENT)) >> SUM_SHIFT

The sum has C0_FRACTION fraction bits. docs/arithmetic.md has the reductions and the rounding.
"""

from dataclasses import dataclass

ARGUMENT_BITS = 25
ADDRESS_BITS = 10

C0_BITS, C0_FRACTION = 35, 34
"""Unsigned."""
C1_BITS, C1_FRACTION = 23, 21
"""Two's complement."""
C2_BITS, C2_FRACTION = 14, 12
"""Two's complement."""

SQUARE_SHIFT = 18
SUM_SHIFT = C1_FRACTION + ARGUMENT_BITS - C0_FRACTION
SQUARE_ALIGNMENT = C1_FRACTION + ARGUMENT_BITS - (C2_FRACTION + 2 * ARGUMENT_BITS - SQUARE_SHIFT)


@dataclass(frozen=True, kw_only=True)
class Region:
    """A run of equally wide segments: 2^index_bits table entries from `base`, each for 2^width_bits arguments.

    `base` is a multiple of the number of entries, so an address is a concatenation.
    """

    base: int
    index_bits: int
    width_bits: int

    @property
    def entries(self) -> int:
        """Number of segments."""
        return 1 << self.index_bits


RECIPROCAL = Region(base=0, index_bits=8, width_bits=17)
"""2 / (1 + x)."""
ROOT_EVEN = Region(base=256, index_bits=7, width_bits=18)
"""2 / sqrt(1 + x)."""
ROOT_ODD = Region(base=384, index_bits=7, width_bits=18)
"""2 / sqrt(2 (1 + x))."""
POWER = Region(base=512, index_bits=7, width_bits=18)
"""2^x."""
SINE = Region(base=640, index_bits=7, width_bits=18)
"""sin(pi / 2 x)."""
LOGARITHM = (
    Region(base=768, index_bits=6, width_bits=16),
    Region(base=832, index_bits=5, width_bits=17),
    Region(base=864, index_bits=4, width_bits=18),
    Region(base=880, index_bits=4, width_bits=18),
    Region(base=896, index_bits=4, width_bits=18),
    Region(base=912, index_bits=4, width_bits=18),
    Region(base=928, index_bits=5, width_bits=17),
    Region(base=960, index_bits=6, width_bits=16),
)
"""log2(1 + x), one region for each value of the three highest bits of x: finer where results are close to 0."""
LOGARITHM_SELECT_BITS = 3

"""Fits the table of the transcendental unit: a quadratic for every segment, in the unit's own integers.

Reference values come from decimal arithmetic, so the table is the same on every machine. A quadratic through the three
Chebyshev nodes gives c1 and c2; of their roundings the pair whose error spreads least is taken, and c0 centres it.
"""

from collections.abc import Callable, Iterator
from decimal import Decimal, localcontext

from ctm.rtl.isa.transcendental import (
    ARGUMENT_BITS,
    C0_FRACTION,
    C1_FRACTION,
    C2_FRACTION,
    LOGARITHM,
    LOGARITHM_SELECT_BITS,
    POWER,
    RECIPROCAL,
    ROOT_EVEN,
    ROOT_ODD,
    SINE,
    SQUARE_ALIGNMENT,
    SQUARE_SHIFT,
    SUM_SHIFT,
    Region,
)

Function = Callable[[Decimal], Decimal]
Entry = tuple[int, int, int]

_DIGITS = 40
_SAMPLES = 32
_PI = Decimal("3.1415926535897932384626433832795028841971693993751")
# Fraction bits of the sum before it is shortened.
_SUM_FRACTION = C0_FRACTION + SUM_SHIFT


def _sine_of_quarter(x: Decimal) -> Decimal:
    angle = _PI / 2 * x
    term, total, order = angle, angle, 1
    while abs(term) > Decimal(10) ** -_DIGITS:
        term = -term * angle * angle / ((order + 1) * (order + 2))
        total, order = total + term, order + 2
    return total


def _logarithm(x: Decimal) -> Decimal:
    return (1 + x).ln() / Decimal(2).ln()


REGIONS: tuple[tuple[Region, Function], ...] = (
    (RECIPROCAL, lambda x: 2 / (1 + x)),
    (ROOT_EVEN, lambda x: 2 / (1 + x).sqrt()),
    (ROOT_ODD, lambda x: (2 / (1 + x)).sqrt()),
    (POWER, lambda x: Decimal(2) ** x),
    (SINE, _sine_of_quarter),
    *((region, _logarithm) for region in LOGARITHM),
)
"""Every region with the function of x in [0, 1) that its entries stand for, in the order of their addresses."""

PASSES_ZERO = frozenset({SINE.base, LOGARITHM[0].base})
"""Entries whose sum is exactly 0 at their first argument, so that SIN(0) and LN2(1) need no other path."""


def first_argument(region: Region, index: int) -> int:
    """The integer x at which segment `index` of `region` begins."""
    octant = LOGARITHM.index(region) << (ARGUMENT_BITS - LOGARITHM_SELECT_BITS) if region in LOGARITHM else 0
    return octant + (index << region.width_bits)


def weigh(c1: int, c2: int, distance: int) -> int:
    """The terms of c1 and c2 in the sum at `distance`, before it is shortened."""
    return c1 * distance + (c2 * (distance * distance >> SQUARE_SHIFT) << SQUARE_ALIGNMENT)


def fit_segment(region: Region, function: Function, index: int) -> Entry:
    """(c0, c1, c2) of one segment."""
    half = 1 << (region.width_bits - 1)
    middle = first_argument(region, index) + half

    with localcontext() as context:
        context.prec = _DIGITS

        def exact(distance: Decimal) -> Decimal:
            return function((middle + distance) / (1 << ARGUMENT_BITS))

        node = Decimal(half) * Decimal(3).sqrt() / 2
        low, centre, high = exact(-node), exact(Decimal(0)), exact(node)
        unit = node / (1 << ARGUMENT_BITS)
        slope = (high - low) / (2 * unit) * (1 << C1_FRACTION)
        curve = (high + low - 2 * centre) / (2 * unit * unit) * (1 << C2_FRACTION)
        distances = [half * (2 * k - _SAMPLES) // _SAMPLES for k in range(_SAMPLES)] + [half - 1]
        wanted = [(d, int((exact(Decimal(d)) * (1 << _SUM_FRACTION)).to_integral_value())) for d in distances]
        candidates = [(c1, c2) for c1 in _neighbours(slope) for c2 in _neighbours(curve)]

    def errors(c1: int, c2: int) -> list[int]:
        return [value - weigh(c1, c2, d) for d, value in wanted]

    c1, c2 = min(candidates, key=lambda pair: max(errors(*pair)) - min(errors(*pair)))
    if region.base + index in PASSES_ZERO:
        return -(weigh(c1, c2, -half) >> SUM_SHIFT), c1, c2
    # Rounding the sum down costs half a unit on average, rounding c0 to nearest another half: together a whole one.
    centred = (max(errors(c1, c2)) + min(errors(c1, c2))) // 2
    return (centred >> SUM_SHIFT) + 1, c1, c2


def _neighbours(value: Decimal) -> tuple[int, int]:
    below = int(value.to_integral_value(rounding="ROUND_FLOOR"))
    return below, below + 1


def fit() -> Iterator[Entry]:
    """All entries in the order of their addresses."""
    for region, function in REGIONS:
        for index in range(region.entries):
            yield fit_segment(region, function, index)

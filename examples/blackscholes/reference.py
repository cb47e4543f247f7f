"""Options of the Black-Scholes example, and their prices by numpy."""

import math

import numpy as np

from ctm.examples.expectation import Array, Expectation

SIDE = 64
RATE = 0.03
_TAIL = [
    factor / math.sqrt(2 * math.pi) for factor in (0.319381530, -0.356563782, 1.781477937, -1.821255978, 1.330274429)
]
CONSTANTS = {
    0: (RATE, 0.2316419, math.log2(math.e) / 2, math.log(2)),
    1: (_TAIL[0], _TAIL[1], _TAIL[2], _TAIL[3]),
    2: (_TAIL[4], -math.log2(math.e), 0.0, 0.0),
}
"""Float constants of the program, as the job file has them."""


def inputs(side: int = SIDE) -> dict[str, Array]:
    """Options (price, strike, years, volatility), float32 [side, side, 4]: strikes to the right, years upwards."""
    j, i = np.mgrid[0:side, 0:side] / (side - 1)
    options = np.stack([np.full_like(i, 100.0), 50 + 100 * i, 0.1 + 4.9 * j, 0.1 + 0.4 * (1 - j)], axis=2)
    return {"options.npy": options.astype(np.float32)}


def expected(arrays: dict[str, Array]) -> dict[str, Expectation]:
    """Prices (call, put), float64 [side, side, 2].

    N is computed to 7.5e-8 by its formula and to some 10 roundings of float32, about 1e-6 in all, and weighs the price
    and the strike; the exponents d1 and d2 add a few roundings of their own.
    """
    price, strike, years, volatility = np.moveaxis(arrays["options.npy"].astype(np.float64), 2, 0)
    rate = float(np.float32(RATE))
    root = volatility * np.sqrt(years)
    d1 = (np.log(price / strike) + (rate + volatility**2 / 2) * years) / root
    d2 = d1 - root
    discounted = strike * np.exp(-rate * years)
    call = price * _normal(d1) - discounted * _normal(d2)
    put = discounted * _normal(-d2) - price * _normal(-d1)
    tolerance = 2e-6 * (price + strike)[:, :, None]
    return {"prices.npy": Expectation(np.stack([call, put], axis=2), tolerance)}


def _normal(values: Array) -> Array:
    """The normal distribution."""
    result: Array = np.vectorize(lambda value: math.erfc(-value / math.sqrt(2)) / 2)(values)
    return result

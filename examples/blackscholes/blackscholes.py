"""Prices of European options by the formula of Black and Scholes, as blackscholes.s."""

from ctm import kernel
from ctm.language import Image, exp, inversesqrt, log, texel, vec2


def tail(d: float) -> float:
    """The normal distribution's tail beyond |d| (Abramowitz and Stegun 26.2.17)."""
    k = 1 / (1 + 0.2316419 * abs(d))
    p = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    return exp(-0.5 * d * d) * 0.39894228 * p


def normal(d: float) -> float:
    """The normal distribution."""
    return tail(d) if d < 0 else 1 - tail(d)


@kernel
def blackscholes(pixel: vec2, options: Image, rate: float) -> vec2:
    """(call, put) of the option (price, strike, years, volatility)."""
    price, strike, years, volatility = texel(options, pixel)
    deviation = volatility * years * inversesqrt(years)
    d1 = (log(price / strike) + (rate + 0.5 * volatility * volatility) * years) / deviation
    d2 = d1 - deviation
    discounted = strike * exp(-rate * years)
    call = price * normal(d1) - discounted * normal(d2)
    put = discounted * normal(-d2) - price * normal(-d1)
    return vec2(call, put)

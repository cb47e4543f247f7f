"""Powers: products by squaring where the exponent is known, and else a function of numbers."""

from collections.abc import Callable

from ctm.sim.compiler.python.error import Problem
from ctm.sim.compiler.python.values import BOOL, FLOAT, INT, Number, Type, Value, converted, known

_LARGEST = 1 << 31


def power(left: Value, right: Value, new_name: Callable[[], str]) -> Value:
    """A number, or each component of a vector, to the power of a number; Problem if kernels cannot compute it.

    A power of a whole number is one where the exponent is a whole number that is not negative, as in Python.
    """
    exponent = right.constant
    if exponent is not None and abs(exponent) < _LARGEST:
        kind = INT if left.type == BOOL else left.type
        if isinstance(exponent, float) or exponent < 0:
            kind = Type("float", kind.size)
        return _known(Value(converted(left, kind), kind), exponent, new_name)
    if left.type.is_vector or right.type.is_vector:
        raise Problem("a power of vectors that is not a known number: write it for each component")
    if left.type.is_whole and right.type.is_whole:
        raise Problem("a whole number to a power that is not a known number: make it float")
    return Value(f"ctm_power({converted(left, FLOAT)}, {converted(right, FLOAT)})", FLOAT)


def _known(base: Value, exponent: Number, new_name: Callable[[], str]) -> Value:
    kind, name = base.type, new_name()
    begin = f"{kind.c} {name} = {base.text}; "
    twice = 2 * exponent
    if twice != int(twice):
        return Value(f"({{ {begin}exp2({known(float(exponent)).text} * log2({name})); }})", kind)
    if exponent < 0:
        begin += f"{name} = 1 / {name}; "
    squarings, factors = _squared(name, kind, int(abs(exponent)))
    if int(twice) % 2:
        factors.append(f"sqrt({name})")
    product = " * ".join(factors) or converted(known(1), kind)
    return Value(f"({{ {begin}{squarings}{product}; }})", kind)


def _squared(name: str, kind: Type, exponent: int) -> tuple[str, list[str]]:
    """C that squares a variable again and again, and those of the squares whose product is its power."""
    lines, factors, square = "", [], name
    for bit in range(exponent.bit_length()):
        if bit:
            lines += f"{kind.c} {name}_{bit} = {square} * {square}; "
            square = f"{name}_{bit}"
        if exponent >> bit & 1:
            factors.append(square)
    return lines, factors

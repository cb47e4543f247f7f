"""Comparisons of integers, with sign and without."""

from ctm.rtl.isa.limits import WORD_BITS
from ctm.sim.compiler.r5xx.integers.building import WHOLE, Builder, known, literal, single
from ctm.sim.compiler.r5xx.integers.ranges import EXACT_BITS, operands, width

_RELATIONS = {"eq": "oeq", "ne": "une", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge"}


def comparison(to: Builder) -> bool:
    """Of two integers; truths are compared by LLVM."""
    type_, (left, right) = operands(to.instruction)
    if width(type_) <= 1:
        return False
    kind = next(word for word in to.instruction.text.split(" ")[1:] if word != "samesign")
    sides = _side(to, left), _side(to, right)
    if kind[0] == "u" and not (to.range_of(left).is_natural and to.range_of(right).is_natural):
        sides = _unsigned(to, left, sides[0], right), _unsigned(to, right, sides[1], left)
    return to.result(f"fcmp {WHOLE} {_RELATIONS[kind[-2:]]} float {', '.join(sides)}")


def _side(to: Builder, text: str) -> str:
    """An operand; a number that a float is not exact for has the same exact ones below it as the float next to it."""
    number = known(text)
    return to.float(text) if number is None else literal(single(number))


def _unsigned(to: Builder, text: str, value: str, against: str) -> str:
    """An operand of a comparison without sign: beside a known number those of the other sign are far away."""
    limit = known(against)
    if known(text) is not None:
        return value
    if limit is None:
        return ordered(to, value)
    far = literal(2.0**WORD_BITS if limit >= 0 else -(2.0**WORD_BITS))
    is_negative = to.is_negative(value)
    return to.choose(is_negative, far, value) if limit >= 0 else to.choose(is_negative, value, far)


def ordered(to: Builder, value: str) -> str:
    """A float that is larger for each integer that is larger without a sign, and exact for each that is exact."""
    half = 2.0**EXACT_BITS
    return to.whole("fadd", value, to.choose(to.is_negative(value), literal(half), literal(-half)))


def extreme(to: Builder, name: str) -> bool:
    """LLVM's smin, smax, umin and umax."""
    left, right = to.instruction.arguments
    values = to.float(left), to.float(right)
    sides = values
    if name[0] == "u" and not (to.range_of(left).is_natural and to.range_of(right).is_natural):
        sides = ordered(to, values[0]), ordered(to, values[1])
    relation = "olt" if name.endswith("min") else "ogt"
    is_first = to.step(f"fcmp {WHOLE} {relation} float {', '.join(sides)}")
    return to.result(f"select {WHOLE} i1 {is_first}, float {values[0]}, float {values[1]}")

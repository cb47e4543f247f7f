"""Quotients and remainders of integers, exact."""

from ctm.sim.compiler.r5xx.integers.building import ONE, WHOLE, ZERO, Builder, known, literal
from ctm.sim.compiler.r5xx.integers.ranges import EXACT_BITS, Range, operands, width


def division(to: Builder) -> bool:
    """Toward 0; the remainder has the sign of what is divided."""
    left, right = to.operands()
    value, divisor = to.float(left), known(right)
    if to.opcode.startswith("u") and divisor:
        # In LLVM's text a number without a sign may have one.
        divisor %= 1 << width(operands(to.instruction)[0])
        if to.range_of(left).is_natural:
            quotient, remainder = _divided(to, value, literal(divisor), divisor)
        else:
            quotient, remainder = _of_wrapped(to, value, divisor)
        return to.same(remainder if to.opcode.endswith("rem") else quotient)
    by = to.float(right)
    one, other = _natural(to, value, to.range_of(left)), _natural(to, by, to.range_of(right))
    quotient, remainder = _divided(to, one, other, divisor)
    is_remainder = to.opcode.endswith("rem")
    found = remainder if is_remainder else quotient
    signs = [] if to.opcode.startswith("u") else [(value, left)] if is_remainder else [(value, left), (by, right)]
    for number, text in signs:
        if not to.range_of(text).is_natural:
            found = to.choose(to.is_negative(number), to.whole("fsub", ZERO, found), found)
    return to.same(found)


def _of_wrapped(to: Builder, value: str, divisor: int) -> tuple[str, str]:
    """Of a number without sign that may have wrapped below 0, which is 2^n less a magnitude, by a known one."""
    bits = width(operands(to.instruction)[0])
    most, left = divmod(1 << bits, divisor)
    is_negative = to.is_negative(value)
    quotient, remainder = _divided(to, to.call("llvm.fabs.f32", value), literal(divisor), divisor)
    is_less = to.step(f"fcmp {WHOLE} ogt float {remainder}, {literal(left)}")
    below = to.whole("fsub", literal(left), remainder)
    if most == 1 and divisor > 1 << EXACT_BITS:
        # What is less than the divisor remains, and is held as it is: 2^n less its magnitude.
        small, large = value, ONE
    else:
        small, large = to.whole("fadd", below, literal(divisor)), to.whole("fsub", literal(most), quotient)
    fewer = to.whole("fsub", large, ONE)
    return (
        to.choose(is_negative, to.choose(is_less, fewer, large), quotient),
        to.choose(is_negative, to.choose(is_less, small, below), remainder),
    )


def _natural(to: Builder, value: str, range_: Range) -> str:
    """The magnitude, or the number without a sign."""
    if range_.is_natural:
        return value
    return (
        to.unsigned(value, width(operands(to.instruction)[0]))
        if to.opcode.startswith("u")
        else to.call("llvm.fabs.f32", value)
    )


def _divided(to: Builder, value: str, by: str, number: int | None) -> tuple[str, str]:
    """Quotient and remainder of two numbers that are not negative; `number` is the second one if it is known.

    A quotient by a reciprocal is a few off at most if it is large, and then its remainder is exact all the same, and
    divided again; a quotient that is one off is found by its remainder.
    """
    size = abs(number) if number else 0
    if size and size & (size - 1) == 0:
        whole = to.call("llvm.floor.f32", to.whole("fmul", value, literal(1 / size)))
        return whole, _remainder(to, whole, by, value)
    inverse = to.step(f"fdiv float {ONE}, {by}")
    quotient = to.call("llvm.floor.f32", to.whole("fmul", value, inverse))
    remainder = _remainder(to, quotient, by, value)
    more = to.call("llvm.floor.f32", to.whole("fmul", remainder, inverse))
    quotient, remainder = to.whole("fadd", quotient, more), _remainder(to, more, by, remainder)
    for relation, limit, step in (("olt", ZERO, -1.0), ("oge", by, 1.0)):
        is_off = to.step(f"fcmp {WHOLE} {relation} float {remainder}, {limit}")
        one = to.choose(is_off, literal(step), ZERO)
        quotient, remainder = to.whole("fadd", quotient, one), _remainder(to, one, by, remainder)
    return quotient, remainder


def _remainder(to: Builder, quotient: str, by: str, value: str) -> str:
    """The remainder of a value: a fused multiply-add, which is exact if the remainder is small."""
    return to.call("llvm.fma.f32", to.whole("fneg", quotient), by, value)

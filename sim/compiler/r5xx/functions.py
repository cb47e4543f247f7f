"""Functions of cores and of LLVM that kernels call."""

import math
from collections.abc import Callable
from typing import NamedTuple

from ctm.rtl.isa.limits import CHANNELS
from ctm.sim.compiler.r5xx.comparisons import compared
from ctm.sim.compiler.r5xx.operations import PIXEL, Constant, Operand, Operation
from ctm.sim.compiler.r5xx.values import LARGEST, ONE, ZERO, Unsupported, Values

_REVOLUTION = Operand(1 / (2 * math.pi))
"""Angles are in revolutions."""
_PIXEL = [Operand(name) for name in PIXEL]
_NO_FRACTION = 2.0**23
"""The smallest number from which on there is no fraction."""
_SMALLEST = 2.0**-126
"""The smallest number that is not a denormal, which counts as 0."""
_CLASSES = ("nan", "nan", "-inf", "-normal", "zero", "zero", "zero", "zero", "+normal", "+inf")
"""The bits of LLVM's classes of floats, the lowest first; those of denormals are zero."""


class Call(NamedTuple):
    """A call in the IR; `is_ordinary`: no operand and no result is a NaN or infinite."""

    result: str
    arguments: list[str]
    is_ordinary: bool = False


def _function(to: Values, name: str, call: Call) -> None:
    """One operation."""
    to.add(name, call.result, *map(to.operand, call.arguments))


def _extreme(to: Values, name: str, call: Call) -> None:
    """The other operand where one is NaN; MIN and MAX give the second one."""
    one, other = map(to.operand, call.arguments)
    if call.is_ordinary or isinstance(other.value, float):
        to.add(name, call.result, one, other)
    else:
        to.add("CMP", call.result, to.new(name, one, other), one, abs(other))


def _extreme_or_nan(to: Values, name: str, call: Call) -> None:
    """NaN where one operand is."""
    one, other = map(to.operand, call.arguments)
    to.add("CMP", call.result, to.new(name, one, other), one, abs(one))


def _floor(to: Values, name: str, call: Call) -> None:
    to.floor(call.result, to.operand(call.arguments[0]), is_ordinary=call.is_ordinary)


def _ceil(to: Values, name: str, call: Call) -> None:
    raised = to.name()
    to.floor(raised, -to.operand(call.arguments[0]), is_ordinary=call.is_ordinary)
    to.values[call.result] = -Operand(raised)


def _trunc(to: Values, name: str, call: Call) -> None:
    to.truncated(call.result, to.operand(call.arguments[0]), is_ordinary=call.is_ordinary)


def _nearest(to: Values, name: str, call: Call) -> None:
    """The nearest whole number, the even one of two: a sum with a number that has no bits for a fraction."""
    value = to.operand(call.arguments[0])
    magnitude = abs(value)
    nearest = to.new("ADD", to.new("ADD", magnitude, Operand(_NO_FRACTION)), Operand(-_NO_FRACTION))
    whole = to.new("CMP", magnitude, nearest, to.new("ADD", magnitude, Operand(-_NO_FRACTION)))
    to.add("CMP", call.result, whole, -whole, value)


def _root(to: Values, name: str, call: Call) -> None:
    """A root is the reciprocal of its reciprocal, so that it is 0 for 0."""
    inverse = to.new("RSQ", to.operand(call.arguments[0]))
    to.add("RCP", call.result, inverse)


def _angle(to: Values, name: str, call: Call) -> None:
    """Of angles in revolutions."""
    to.add(name, call.result, to.new("MUL", to.operand(call.arguments[0]), _REVOLUTION))


def _magnitude(to: Values, name: str, call: Call) -> None:
    """A modifier."""
    to.values[call.result] = abs(to.operand(call.arguments[0]))


def _signed(to: Values, name: str, call: Call) -> None:
    """A magnitude with a sign, that of zero counted as +: LLVM makes this of a product with zero, too."""
    magnitude, sign = map(to.operand, call.arguments)
    to.add("CMP", call.result, abs(magnitude), -abs(magnitude), sign)


def _scaled(to: Values, name: str, call: Call) -> None:
    """A product with a power of two."""
    value, power = map(to.operand, call.arguments)
    to.add("MUL", call.result, value, to.new("EX2", power))


def _is_of_class(to: Values, name: str, call: Call) -> None:
    """Whether a float is of one of the classes that a mask says: the sum of what it is, which is 0 or 1."""
    value, mask = to.operand(call.arguments[0]), int(call.arguments[1])
    wanted = {kind for bit, kind in enumerate(_CLASSES) if mask >> bit & 1}
    found = ZERO
    for kind in sorted(wanted):
        if kind == "nan":
            condition = compared(to, "uno", value, ZERO, is_ordinary=False)
            found = to.new("ADD", found, to.chosen(condition, ONE, ZERO))
            continue
        sided = -value if kind[0] == "-" else value
        found = to.new("ADD", found, _is_between(to, sided, *_LIMITS[kind.lstrip("+-")]))
    to.add("MOV", call.result, found)


_LIMITS = {"inf": (LARGEST, math.inf), "normal": (0.0, LARGEST), "zero": (-_SMALLEST, 0.0)}
"""A class of numbers that are not below 0 is above the first of these, and not above the second."""


def _is_between(to: Values, value: Operand, low: float, high: float) -> Operand:
    """1 or 0."""
    above = to.chosen(compared(to, "ogt", value, Operand(low), is_ordinary=False), ONE, ZERO)
    if high == math.inf:
        return above
    return to.chosen(compared(to, "ole", value, Operand(high), is_ordinary=False), above, ZERO)


def _fetch(to: Values, name: str, call: Call) -> None:
    """An element, by coordinates in two channels of one register."""
    coordinates = [to.operand(text) for text in call.arguments[1:]]
    if [each for each in coordinates if each.negative or each.absolute or not each.variable] or coordinates != _PIXEL:
        coordinates = [to.new("MOV", each) for each in coordinates]
    results = tuple(f"{call.result}.{channel}" for channel in "rgba")
    to.vectors[call.result] = [Operand(each) for each in results]
    to.written.append(
        Operation(
            "LOOKUP",
            results,
            tuple(coordinates),
            line=to.line,
            number=int(call.arguments[0]),
            is_scaled=name == "texture",
        )
    )


def _constant(to: Values, name: str, call: Call) -> None:
    """A constant's channels."""
    if not call.arguments[0].isdecimal():
        raise Unsupported("the number of a constant is computed: R5xx cores need it in the instruction")
    to.vectors[call.result] = [Operand(Constant(int(call.arguments[0]), channel)) for channel in range(4)]


def _output(to: Values, name: str, call: Call) -> None:
    """All four channels."""
    values = tuple(to.vector(call.arguments[1]))
    to.written.append(Operation("OUT", (), values, line=to.line, number=int(call.arguments[0])))


def _conditional(to: Values, name: str, call: Call) -> None:
    """The conditional value."""
    to.written.append(Operation("w", (), (to.operand(call.arguments[0]),), line=to.line))


def _discard(to: Values, name: str, call: Call) -> None:
    """A fetch that kills where a channel is below 0."""
    to.written.append(Operation("KILL", (), (to.new("MOV", Operand(-1.0)),), line=to.line))


def _dot(to: Values, name: str, call: Call) -> None:
    """Products and their sum; those of two zeros are left out."""
    pairs = [pair for pair in zip(*map(to.vector, call.arguments), strict=True) if pair != (ZERO, ZERO)]
    if not pairs:
        to.values[call.result] = ZERO
    elif len(pairs) == 1:
        to.add("MUL", call.result, *pairs[0])
    else:
        left, right = ([pair[side] for pair in pairs] for side in (0, 1))
        one = _in_register(to, left)
        other = one if right == left else _in_register(to, right)
        to.add("DP4" if len(pairs) == CHANNELS else "DP3", call.result, *one, *other)


def _in_register(to: Values, values: list[Operand]) -> list[Operand]:
    """The same values in one register: as they are if they come from one fetch, or are one constant's."""
    is_plain = all(not each.negative and not each.absolute for each in values)
    registers = {each.value.number if isinstance(each.value, Constant) else (each.variable or ".").rpartition(".")[0]
                 for each in values}  # fmt: skip
    if is_plain and len(registers) == 1 and (registers <= to.vectors.keys() or all(
        isinstance(each.value, Constant) for each in values
    )):  # fmt: skip
        return values
    return [to.new("MOV", each) for each in values]


def _writing(to: Values, name: str, call: Call) -> None:
    """Not done."""
    raise Unsupported("write(): only kernels for R700 cores write past the caches")


_Function = Callable[[Values, Call], None]


def _named(method: Callable[[Values, str, Call], None], name: str = "") -> _Function:
    return lambda to, call: method(to, name, call)


FUNCTIONS: dict[str, _Function] = {
    **{key: _named(_function, name) for key, name in {
        "fma": "MAD", "exp2": "EX2", "log2": "LN2", "ctm.exp2": "EX2", "ctm.fract": "FRC", "ctm.inversesqrt": "RSQ",
    }.items()},
    **{f"{name}{kind}": _named(_extreme, name[:3].upper()) for name in ("min", "max") for kind in ("num", "imumnum")},
    **{f"{name}imum": _named(_extreme_or_nan, name[:3].upper()) for name in ("min", "max")},
    "floor": _named(_floor),
    "ceil": _named(_ceil),
    "trunc": _named(_trunc),
    **dict.fromkeys(("rint", "nearbyint", "roundeven"), _named(_nearest)),
    "fabs": _named(_magnitude),
    "copysign": _named(_signed),
    "ldexp": _named(_scaled),
    "is": _named(_is_of_class),
    "sqrt": _named(_root),
    "sin": _named(_angle, "SIN"),
    "cos": _named(_angle, "COS"),
    "ctm.texel": _named(_fetch, "texel"),
    "ctm.texture": _named(_fetch, "texture"),
    "ctm.constant": _named(_constant),
    "ctm.output": _named(_output),
    "ctm.conditional": _named(_conditional),
    "ctm.discard": _named(_discard),
    "ctm.dot": _named(_dot),
    "ctm.write": _named(_writing),
}  # fmt: skip

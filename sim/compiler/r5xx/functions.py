"""Functions of cores and of LLVM that kernels call."""

import math
from collections.abc import Callable

from ctm.rtl.isa.limits import CHANNELS
from ctm.sim.compiler.r5xx.operations import PIXEL, Constant, Operand, Operation
from ctm.sim.compiler.r5xx.values import BITS, ZERO, Unsupported, Values

_TURN = Operand(1 / (2 * math.pi))
"""Angles are in turns."""
_PIXEL = [Operand(name) for name in PIXEL]


def _function(to: Values, name: str, result: str, arguments: list[str]) -> None:
    """One operation."""
    to.add(name, result, *map(to.operand, arguments))


def _rounding(to: Values, name: str, result: str, arguments: list[str]) -> None:
    """Floor, ceil, trunc."""
    value = to.operand(arguments[0])
    if name == "floor":
        to.floor(result, value)
    elif name == "ceil":
        raised = to.name()
        to.floor(raised, -value)
        to.values[result] = -Operand(raised)
    else:
        whole = to.new("ADD", abs(value), -to.new("FRC", abs(value)))
        to.add("CMP", result, whole, -whole, value)


def _root(to: Values, name: str, result: str, arguments: list[str]) -> None:
    """A root is the reciprocal of its reciprocal, so that it is 0 for 0."""
    inverse = to.new("RSQ", to.operand(arguments[0]))
    to.add("RCP", result, inverse)


def _angle(to: Values, name: str, result: str, arguments: list[str]) -> None:
    """Of angles in turns."""
    to.add(name, result, to.new("MUL", to.operand(arguments[0]), _TURN))


def _magnitude(to: Values, name: str, result: str, arguments: list[str]) -> None:
    """A modifier."""
    to.values[result] = abs(to.operand(arguments[0]))


def _lookup(to: Values, name: str, result: str, arguments: list[str]) -> None:
    """An element, from the place in two channels of one register."""
    place = [to.operand(text) for text in arguments[1:]]
    if [each for each in place if each.negative or each.absolute or not each.variable] or place != _PIXEL:
        place = [to.new("MOV", each) for each in place]
    results = tuple(f"{result}.{channel}" for channel in "rgba")
    to.vectors[result] = [Operand(each) for each in results]
    to.written.append(
        Operation("LOOKUP", results, tuple(place), line=to.line, number=int(arguments[0]), is_scaled=name == "texture")
    )


def _constant(to: Values, name: str, result: str, arguments: list[str]) -> None:
    """A constant's channels."""
    if not arguments[0].isdecimal():
        raise Unsupported("the number of a constant is computed: R5xx cores need it in the instruction")
    to.vectors[result] = [Operand(Constant(int(arguments[0]), channel)) for channel in range(4)]


def _output(to: Values, name: str, result: str, arguments: list[str]) -> None:
    """All four channels."""
    values = tuple(to.vector(arguments[1]))
    to.written.append(Operation("OUT", (), values, line=to.line, number=int(arguments[0])))


def _conditional(to: Values, name: str, result: str, arguments: list[str]) -> None:
    """The conditional value."""
    to.written.append(Operation("w", (), (to.operand(arguments[0]),), line=to.line))


def _discard(to: Values, name: str, result: str, arguments: list[str]) -> None:
    """A lookup that kills where a channel is below 0."""
    to.written.append(Operation("KILL", (), (to.new("MOV", Operand(-1.0)),), line=to.line))


def _dot(to: Values, name: str, result: str, arguments: list[str]) -> None:
    """Products and their sum; those with 0 are left out."""
    pairs = [pair for pair in zip(*map(to.vector, arguments), strict=True) if ZERO not in pair]
    if not pairs:
        to.values[result] = ZERO
    elif len(pairs) == 1:
        to.add("MUL", result, *pairs[0])
    else:
        left, right = ([pair[side] for pair in pairs] for side in (0, 1))
        one = _in_register(to, left)
        other = one if right == left else _in_register(to, right)
        to.add("DP4" if len(pairs) == CHANNELS else "DP3", result, *one, *other)


def _in_register(to: Values, values: list[Operand]) -> list[Operand]:
    """The same values in one register: as they are if they come from one lookup, or are one constant's."""
    is_plain = all(not each.negative and not each.absolute for each in values)
    registers = {each.value.number if isinstance(each.value, Constant) else (each.variable or ".").rpartition(".")[0]
                 for each in values}  # fmt: skip
    if is_plain and len(registers) == 1 and (registers <= to.vectors.keys() or all(
        isinstance(each.value, Constant) for each in values
    )):  # fmt: skip
        return values
    return [to.new("MOV", each) for each in values]


def _writing(to: Values, name: str, result: str, arguments: list[str]) -> None:
    """Not done."""
    raise Unsupported("write(): only kernels for R700 cores write past the caches")


def _bits(to: Values, name: str, result: str, arguments: list[str]) -> None:
    """Not done."""
    raise Unsupported(BITS)


_Function = Callable[[Values, str, list[str]], None]


def _named(method: Callable[[Values, str, str, list[str]], None], name: str) -> _Function:
    return lambda to, result, arguments: method(to, name, result, arguments)


FUNCTIONS: dict[str, _Function] = {
    **{key: _named(_function, name) for key, name in {
        "fma": "MAD", "minnum": "MIN", "maxnum": "MAX", "smin": "MIN", "smax": "MAX", "umin": "MIN",
        "umax": "MAX", "exp2": "EX2", "log2": "LN2", "ctm.inversesqrt": "RSQ",
    }.items()},
    **{key: _named(_rounding, key) for key in ("floor", "ceil", "trunc")},
    "fabs": _named(_magnitude, ""),
    "abs": _named(lambda to, name, result, texts: _magnitude(to, name, result, texts[:1]), ""),
    "sqrt": _named(_root, ""),
    "sin": _named(_angle, "SIN"),
    "cos": _named(_angle, "COS"),
    "ctm.texel": _named(_lookup, "texel"),
    "ctm.texture": _named(_lookup, "texture"),
    "ctm.constant": _named(_constant, ""),
    "ctm.output": _named(_output, ""),
    "ctm.conditional": _named(_conditional, ""),
    "ctm.discard": _named(_discard, ""),
    "ctm.dot": _named(_dot, ""),
    "ctm.write": _named(_writing, ""),
    **dict.fromkeys(("ctpop", "ctlz", "cttz", "fshl", "fshr", "bitreverse", "bswap"), _named(_bits, "")),
}  # fmt: skip

"""Operations on 32-bit integers."""

from collections.abc import Callable

from ctm.sim.engines.fast.r700.formulas.kinds import Formula, Unit
from ctm.sim.engines.fast.vector import integer
from ctm.sim.engines.fast.vector.lanes import Lanes, Value


def _instruction(name: str) -> Formula:
    """An instruction of LLVM's."""

    def formula(unit: Unit, *operands: Value) -> Value:
        return getattr(unit.lanes.builder, name)(*operands)

    return formula


def _intrinsic(name: str) -> Formula:
    """An intrinsic of LLVM's."""

    def formula(unit: Unit, *operands: Value) -> Value:
        return unit.lanes.apply(name, *operands)

    return formula


def _function(function: Callable[..., Value]) -> Formula:
    def formula(unit: Unit, *operands: Value) -> Value:
        return function(unit.lanes, *operands)

    return formula


def _high_signed(lanes: Lanes, a: Value, b: Value) -> Value:
    return integer.high_product(lanes, a, b, signed=True)


def _high_unsigned(lanes: Lanes, a: Value, b: Value) -> Value:
    return integer.high_product(lanes, a, b, signed=False)


VALUES: dict[str, Formula] = {
    "AND_INT": _instruction("and_"),
    "OR_INT": _instruction("or_"),
    "XOR_INT": _instruction("xor"),
    "NOT_INT": _instruction("not_"),
    "ADD_INT": _instruction("add"),
    "SUB_INT": _instruction("sub"),
    "MAX_INT": _intrinsic("smax"),
    "MIN_INT": _intrinsic("smin"),
    "MAX_UINT": _intrinsic("umax"),
    "MIN_UINT": _intrinsic("umin"),
    "ASHR_INT": _function(integer.shift_right_signed),
    "LSHR_INT": _function(integer.shift_right),
    "LSHL_INT": _function(integer.shift_left),
    "MULLO_INT": _instruction("mul"),
    "MULLO_UINT": _instruction("mul"),
    "MULHI_INT": _function(_high_signed),
    "MULHI_UINT": _function(_high_unsigned),
    "RECIP_INT": _function(integer.reciprocal_signed),
    "RECIP_UINT": _function(integer.reciprocal),
}

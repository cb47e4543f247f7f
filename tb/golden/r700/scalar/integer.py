"""Operations on 32-bit integers, which are words modulo 2^32."""

from collections.abc import Callable

_WORDS = 1 << 32
_LEAST, _MOST = -(1 << 31), (1 << 31) - 1


def signed(word: int) -> int:
    """The word as an integer in two's complement."""
    return word - _WORDS if word >> 31 else word


def wrapped(n: int) -> int:
    """The word that is `n` modulo 2^32."""
    return n % _WORDS


def arithmetic_shift_right(s0: int, s1: int) -> int:
    """ASHR_INT: counts above 31 leave the sign alone."""
    return wrapped(signed(s0) >> min(s1, 31))


def logical_shift_right(s0: int, s1: int) -> int:
    """LSHR_INT: counts above 31 leave nothing."""
    return s0 >> s1 if s1 < 32 else 0


def shift_left(s0: int, s1: int) -> int:
    """LSHL_INT: counts above 31 leave nothing."""
    return wrapped(s0 << s1) if s1 < 32 else 0


def reciprocal_signed(s0: int) -> int:
    """RECIP_INT: 2^32 / s0 truncated towards zero, saturated; the largest integer for 0."""
    divisor = signed(s0)
    if divisor == 0:
        return _MOST
    quotient = _WORDS // abs(divisor)
    return wrapped(min(max(-quotient if divisor < 0 else quotient, _LEAST), _MOST))


def reciprocal_unsigned(s0: int) -> int:
    """RECIP_UINT: floor(2^32 / s0), saturated; the largest integer for 0."""
    return min(_WORDS // s0, _WORDS - 1) if s0 else _WORDS - 1


VALUES: dict[str, Callable[..., int]] = {
    "AND_INT": lambda s0, s1: s0 & s1,
    "OR_INT": lambda s0, s1: s0 | s1,
    "XOR_INT": lambda s0, s1: s0 ^ s1,
    "NOT_INT": lambda s0: wrapped(~s0),
    "ADD_INT": lambda s0, s1: wrapped(s0 + s1),
    "SUB_INT": lambda s0, s1: wrapped(s0 - s1),
    "MAX_INT": lambda s0, s1: wrapped(max(signed(s0), signed(s1))),
    "MIN_INT": lambda s0, s1: wrapped(min(signed(s0), signed(s1))),
    "MAX_UINT": lambda s0, s1: max(s0, s1),
    "MIN_UINT": lambda s0, s1: min(s0, s1),
    "ASHR_INT": arithmetic_shift_right,
    "LSHR_INT": logical_shift_right,
    "LSHL_INT": shift_left,
    "MULLO_INT": lambda s0, s1: wrapped(signed(s0) * signed(s1)),
    "MULHI_INT": lambda s0, s1: wrapped(signed(s0) * signed(s1) >> 32),
    "MULLO_UINT": lambda s0, s1: wrapped(s0 * s1),
    "MULHI_UINT": lambda s0, s1: s0 * s1 >> 32,
    "RECIP_INT": reciprocal_signed,
    "RECIP_UINT": reciprocal_unsigned,
}

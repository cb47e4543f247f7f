"""Types of what callers give, checked where they give it: far from there, a wrong one means nothing any more."""

from enum import Enum
from numbers import Integral


def check_type(name: str, value: object, wanted: type) -> None:
    """Reject a value of another type.

    Raises
    ------
    TypeError
        It is one; where it is the name of the right value, the message says how that is written.
    """
    if isinstance(value, wanted):
        return
    fix = ""
    if issubclass(wanted, Enum) and isinstance(value, str):
        known = wanted.__members__
        fix = f"; write {wanted.__name__}.{value}" if value in known else f"; there are {', '.join(known)}"
    noun = "a whole number" if wanted is Integral else f"a {wanted.__name__}"
    raise TypeError(f"{name} must be {noun}, not {value!r}{fix}")

"""Values of Amaranth's netlists without a check of each net, which is a seventh of the time of a conversion."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from amaranth.hdl import _nir


@contextmanager
def trusted_nets() -> Iterator[None]:
    """Within this, Amaranth does not assert that what it makes a value of are nets: all of it is Amaranth's own.

    The method is replaced of the version that the project is bound to; netlists are the same.
    """
    value: Any = _nir.Value
    checked = value.__new__

    def unchecked(cls: type, nets: _nir.Net | Iterable[_nir.Net] = ()) -> Any:
        return tuple.__new__(cls, (nets,) if isinstance(nets, _nir.Net) else nets)

    value.__new__ = unchecked
    try:
        yield
    finally:
        value.__new__ = checked

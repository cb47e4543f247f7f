"""Arrays as the bits of ports."""

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

_WORD_BITS = 32
_LARGEST_ELEMENT = 64


def element_type(width: int) -> np.dtype[Any]:
    """The type of an array's elements for a port of `width` bits; a wider port than 64 bits has words of this type."""
    sizes = [size for size in (8, 16, 32, _LARGEST_ELEMENT) if width <= size]
    return np.dtype(f"uint{sizes[0] if sizes else _WORD_BITS}")


def words(width: int) -> int | None:
    """The words of a port's elements; None for a port of at most 64 bits, whose elements are numbers."""
    return None if width <= _LARGEST_ELEMENT else -(-width // _WORD_BITS)


def empty(count: int, width: int) -> NDArray[Any]:
    """An array for `count` values of a port."""
    listed = words(width)
    return np.empty(count if listed is None else (count, listed), element_type(width))


def operands(widths: Mapping[str, int], given: Mapping[str, Any]) -> tuple[list[NDArray[Any]], int]:
    """The inputs in the order of `widths`, and their number n; integers are repeated n times without memory.

    Raises
    ------
    TypeError, ValueError
        As `CompiledUnit` says.
    """
    missing, unknown = widths.keys() - given.keys(), given.keys() - widths.keys()
    if missing or unknown:
        problem = f"{_listed(missing)} missing" if missing else f"no input {_listed(unknown)}"
        raise TypeError(f"{problem}; the inputs are {_listed(widths)}")
    arrays = {name: _bits(name, width, given[name]) for name, width in widths.items()}
    lengths = {name: len(array) for name, array in arrays.items() if np.ndim(given[name])}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"inputs of different lengths: {', '.join(f'{name} {n}' for name, n in lengths.items())}")
    count = next(iter(lengths.values()), 1)
    return [np.broadcast_to(array, (count, *array.shape[1:])) for array in arrays.values()], count


def block(array: NDArray[Any], width: int, start: int, end: int) -> NDArray[Any]:
    """Elements of an input as the compiled code reads them; a copy where they are not so already."""
    return np.ascontiguousarray(array[start:end], element_type(width))


def _listed(names: Any) -> str:
    return ", ".join(sorted(names)) or "none"


def _bits(name: str, width: int, value: Any) -> NDArray[Any]:
    """An input as an array [n] or [n, words] of integers that fit the port."""
    if np.ndim(value) == 0 and not isinstance(value, np.floating | np.ndarray):
        return _repeated(name, width, value)
    array = np.atleast_1d(np.asarray(value))
    if array.dtype == np.float32 and width == _WORD_BITS:
        array = array.view(np.uint32)
    if array.dtype == np.bool_:
        array = array.view(np.uint8)
    if array.dtype.kind not in "iu":
        wanted = "integers or float32" if width == _WORD_BITS else "integers"
        raise TypeError(f"{name} ({width} bits) must be {wanted}, not {array.dtype}")
    listed = words(width)
    if array.shape[1:] != (() if listed is None else (listed,)):
        wanted = "[n]" if listed is None else f"[n, {listed}]"
        raise ValueError(f"{name} ({width} bits) must have the shape {wanted}, not {list(array.shape)}")
    if listed is None:
        _check(name, width, array, width)
    else:
        _check(name, width, array[:, :-1], _WORD_BITS)
        _check(name, width, array[:, -1], width - (listed - 1) * _WORD_BITS)
    return array


def _repeated(name: str, width: int, value: Any) -> NDArray[Any]:
    """One integer as an array of one element."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} ({width} bits) must be an array or an integer, not {value!r}") from None
    if not 0 <= number < 1 << width:
        raise ValueError(f"{name}: {number:#x} does not fit in {width} bits")
    array = empty(1, width)
    array.reshape(-1)[:] = np.frombuffer(number.to_bytes(array.nbytes, "little"), array.dtype.newbyteorder("<"))
    return array


def _check(name: str, width: int, array: NDArray[Any], bits: int) -> None:
    """Raise ValueError for an element beyond `bits`; the array is not read if its type cannot hold one."""
    limits = np.iinfo(array.dtype)
    largest = (1 << bits) - 1
    if array.size == 0:
        return
    for index, impossible in ((array.argmin(), limits.min >= 0), (array.argmax(), limits.max <= largest)):
        value = int(array.flat[index])
        if not impossible and not 0 <= value <= largest:
            row = int(np.unravel_index(index, array.shape)[0])
            raise ValueError(f"{name}: {value:#x} at index {row} does not fit in {width} bits")

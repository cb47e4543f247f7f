"""What a kernel is called with: numpy arrays and numbers as images and constants of the machine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ctm.language.images import as_floats
from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.limits import BOOL_CONSTANTS, CHANNELS, COORDINATE_LIMIT, FLOAT_CONSTANTS, INT_CONSTANTS
from ctm.sim.compiler.python import Constant, Parameter, Picture, Table
from ctm.sim.compiler.targets import TARGETS
from ctm.sim.elf import Executable

Array = npt.NDArray[Any]
FLOATS = {1: DataFormat.FLOAT32_1, 2: DataFormat.FLOAT32_2, 4: DataFormat.FLOAT32_4}
"""Formats of float32 by their channels."""
KINDS = {"bool": np.dtype(bool), "int": np.dtype(np.int32), "uint": np.dtype(np.uint32), "float": np.dtype(np.float32)}
"""Types of numpy by those of kernels."""
_SMALL = {(2, 1): DataFormat.UINT16_1, (1, CHANNELS): DataFormat.UINT8_4}
"""Formats of whole numbers that are read as 0 to 1, by bytes and channels."""
_TOO_LARGE = 2.0**31
"""What has no sign and is not below this is a negative number to cores that hold whole numbers as floats."""
_MOST_SHOWN = 40
"""Characters of a value in a message."""


@dataclass(frozen=True)
class Arguments:
    """Images by the numbers of their inputs, and what the tables of constants hold: floats, ints and booleans."""

    images: Mapping[int, tuple[DataFormat, Array]]
    tables: tuple[Array, Array, Array]


def bound(parameters: Mapping[str, Parameter], given: Sequence[Any], program: Executable) -> Arguments:
    """The arguments of a call, one for each parameter.

    Raises
    ------
    TypeError, ValueError
        They do not fit the kernel; the message names the one that does not.
    """
    own = program.own_constants
    floats = np.zeros((FLOAT_CONSTANTS, CHANNELS), np.uint32)
    limit = min(own.floats, default=FLOAT_CONSTANTS)
    images = {}
    for (name, kind), value in zip(parameters.items(), given, strict=True):
        if isinstance(kind, Picture):
            images[kind.number] = formatted(image(name, kind, value))
            continue
        rows = _words(name, numbers(name, kind, value), are_floats=TARGETS[program.kind].whole_floats)
        first, stride = (kind.number, 1) if isinstance(kind, Constant) else (kind.first, kind.stride)
        last = first + (len(rows) - 1) * stride
        if last >= limit:
            raise ValueError(f"'{name}' is too long: its {len(rows)} items end at constant {last}, of 0..{limit - 1}")
        floats[first : last + 1 : stride, : rows.shape[1]] = rows
    for number, words in own.floats.items():
        floats[number] = words
    ints = np.zeros(INT_CONSTANTS, np.uint32)
    for number, word in own.ints.items():
        ints[number] = word
    return Arguments(images, (floats, ints, np.zeros(BOOL_CONSTANTS, np.uint32)))


def image(name: str, kind: Picture, value: Any) -> Array:
    """An argument that is an image: [height, width, channels] of float32, int32, uint32, or uint8 or uint16."""
    wanted = KINDS[kind.type.scalar]
    array = _array(name, value)
    if array.dtype.kind in "OUS":
        raise TypeError(f"'{name}' is an image, an array of np.{wanted}, and not {_shown(value)}")
    # In the host's byte order.
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    if array.ndim == len(("height", "width")):
        array = array[:, :, None]
    is_small = array.dtype.kind == "u" and array.itemsize < wanted.itemsize
    if wanted.kind == "f":
        fits = array.dtype.kind == "f" or is_small
        # A number beyond float32 becomes infinite, as on the device.
        with np.errstate(over="ignore"):
            array = array.astype(wanted, copy=False) if array.dtype.kind == "f" else array
    else:
        fits = array.dtype == wanted
    if not fits:
        fix = f"give it as np.{wanted}" + ("; numbers of 32 bits are for an Image[int]" if wanted.kind == "f" else "")
        raise TypeError(f"'{name}' is an array of {array.dtype}: {fix}")
    is_image = array.ndim == len(("height", "width", "channels")) and 1 <= array.shape[2] <= CHANNELS
    if not is_image or not all(1 <= side <= COORDINATE_LIMIT for side in array.shape[:2]):
        raise ValueError(
            f"'{name}' has shape {list(np.shape(value))}: an image is [height, width] or [height, width, channels], "
            f"its sides 1..{COORDINATE_LIMIT}, channels 1..{CHANNELS}"
        )
    return array


def formatted(array: Array) -> tuple[DataFormat, Array]:
    """The same in a format of the machine: three channels become four, others of few bits floats."""
    small = _SMALL.get((array.itemsize, array.shape[2]))
    if small is not None:
        return small, array
    if array.itemsize < np.dtype(np.float32).itemsize:
        array = as_floats(array)
    array = np.ascontiguousarray(array).view(np.float32)
    if array.shape[2] not in FLOATS:
        array = np.concatenate([array, np.ones_like(array[:, :, :1])], axis=2)
    return FLOATS[array.shape[2]], array


def numbers(name: str, kind: Constant | Table, value: Any) -> Array:
    """An argument that is a number, a vector, or a list of them: [items, components] of the kernel's type."""
    is_one = isinstance(kind, Constant)
    element = kind.type if isinstance(kind, Constant) else kind.element
    array = _array(name, value)
    wanted = KINDS[element.scalar]
    shape = (1, element.size) if is_one else (-1, element.size)
    expected: tuple[int, ...] = () if element.size == 1 else (element.size,)
    if array.shape[0 if is_one else 1 :] != expected or (not is_one and (array.ndim == 0 or not len(array))):
        what = f"a {element}" if is_one else f"a list of {element}"
        raise ValueError(f"'{name}' is {what}, and not {_shown(value)}")
    # Numpy has no type for Python's whole numbers of more than 64 bits.
    is_long = array.dtype.kind == "O" and all(type(each) is int for each in array.flat)
    if not is_long and array.dtype.kind not in {"f": "fiub", "i": "iub", "u": "iub", "b": "iub"}[wanted.kind]:
        raise TypeError(f"'{name}' is of {element}, and not {_shown(value)}: convert it")
    if wanted.kind in "iu" and not _holds(wanted, array):
        raise ValueError(f"'{name}' is of {element}, which has 32 bits: {_shown(value)} does not fit")
    try:
        with np.errstate(over="ignore"):
            return array.astype(wanted).reshape(shape)
    except OverflowError:
        raise ValueError(f"'{name}' is of {element}, which has 32 bits: {_shown(value)} does not fit") from None


def _array(name: str, value: Any) -> Array:
    """An argument as an array."""
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"'{name}' is a masked array, and kernels know no masks: give {name}.filled(...)")
    try:
        return np.asarray(value)
    except ValueError:
        raise ValueError(f"'{name}' has items of different lengths: {_shown(value)}") from None


def _holds(wanted: np.dtype[Any], array: Array) -> bool:
    limits = np.iinfo(wanted)
    return bool((array >= limits.min).all() and (array <= limits.max).all())


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} {list(value.shape)}"
    text = repr(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."


def _words(name: str, array: Array, *, are_floats: bool) -> Array:
    """Numbers as the machine's words: whole ones as their bits, or where a core has none as floats."""
    if are_floats or array.dtype.kind == "b":
        floats = array.astype(np.float32)
        inexact = array[(floats.astype(np.float64) != array) | (floats >= _TOO_LARGE)]
        if array.dtype.kind in "iu" and inexact.size:
            raise ValueError(f"'{name}' is {inexact[0]}: R5xx cores hold whole numbers as floats, exact up to 2^24")
        array = floats
    return array.view(np.uint32)

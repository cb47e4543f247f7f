"""Array files of numpy (.npy), with errors that say what is wrong with one."""

import io
import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib import format as numpy_format

Array = npt.NDArray[Any]

_MAGIC = numpy_format.MAGIC_PREFIX
_VERSION_AT = len(_MAGIC)
_LENGTH_AT = _VERSION_AT + 2
_LENGTH_BYTES: dict[tuple[int, ...], int] = {(1, 0): 2, (2, 0): 4, (3, 0): 4}
"""Bytes of the header's length, by the versions that there are."""
_LONGEST_HEADER = 1 << 20
"""Bytes of a file that are looked at for its header; numpy reads none of more than 10,000."""
_OTHERS = {
    b"PK": "an archive of arrays (.npz): give one of them, as numpy.save writes it (.npy)",
    b"\x89PNG": "a PNG picture: name it .png",
    b"\x80": "a pickle, which is not read: give an array as numpy.save writes it",
    b"\x89HDF": "an HDF5 file: give an array as numpy.save writes it",
    b"SIMPLE": "a FITS file: give an array as numpy.save writes it",
}
"""What else files begin with that are called .npy."""


class NpyError(ValueError):
    """A file that is no array; the message continues the file's name."""


def read_npy(data: bytes) -> Array:
    """The array in a file's bytes, in the host's byte order and row by row.

    Raises
    ------
    NpyError
        It is damaged, cut, or another kind of file, or holds no numbers.
    """
    shape, by_columns, kind, begin = _header(data)
    _check_size(shape, kind, len(data) - begin)
    array: Array = np.ndarray(shape, kind, data, begin, order="F" if by_columns else "C")
    return array.astype(kind.newbyteorder("="), order="C")


def mapped_npy(path: Path) -> Array:
    """The array in a file, of which only what is used is read; its byte order and order of elements are the file's.

    Raises
    ------
    NpyError
        As `read_npy`.
    OSError
        The file cannot be read.
    """
    with path.open("rb") as file:
        shape, by_columns, kind, begin = _header(file.read(_LONGEST_HEADER))
    _check_size(shape, kind, path.stat().st_size - begin)
    if not math.prod(shape):
        return np.empty(shape, kind)
    return np.memmap(path, kind, "r", begin, shape, "F" if by_columns else "C")


def _check_size(shape: tuple[int, ...], kind: np.dtype[Any], there: int) -> None:
    if kind.hasobject:
        raise NpyError("holds Python objects, which are not read: save an array of numbers, such as np.float32")
    size = math.prod(shape) * kind.itemsize
    if there < size:
        raise NpyError(f"is truncated: {list(shape)} of {kind} are {size:,} bytes, and it has {there:,} of them")


def _header(data: bytes) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    """Shape, whether columns are together, type, and where the elements begin."""
    if not data:
        raise NpyError("is empty")
    if not data.startswith(_MAGIC[: len(data)]):
        other = next((text for start, text in _OTHERS.items() if data.startswith(start)), "no .npy array file")
        raise NpyError(f"is {other}")
    version = tuple(data[_VERSION_AT:_LENGTH_AT])
    if version not in _LENGTH_BYTES and len(version) == 2:
        raise NpyError(f"is an .npy file of version {version[0]}.{version[1]}, which is not known: save it again")
    begin = _LENGTH_AT + _LENGTH_BYTES.get(version, 0)
    end = begin + int.from_bytes(data[_LENGTH_AT:begin], "little")
    if len(data) <= begin or len(data) < end:
        raise NpyError(f"is truncated: its header takes at least {max(begin, end):,} bytes, and it has {len(data):,}")
    read = numpy_format.read_array_header_1_0 if version == (1, 0) else numpy_format.read_array_header_2_0
    try:
        # Numpy warns of headers that Python 2 wrote, and reads them.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            shape, by_columns, kind = read(io.BytesIO(data[_LENGTH_AT:end]))
            # Numpy takes true and false for sides.
            if any(isinstance(side, bool) or side < 0 for side in shape):
                raise ValueError
    except Exception:
        # Numpy takes the text apart as Python, with all errors that Python's tokens and types have.
        raise NpyError("is no .npy array file that can be read: its header is damaged") from None
    return shape, by_columns, kind, end

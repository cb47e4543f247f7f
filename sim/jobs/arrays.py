"""Array files of a job: .npy or .png, checked against what the job says they hold."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.formats import ELEMENTS, DataFormat
from ctm.rtl.isa.limits import COORDINATE_LIMIT
from ctm.sim.files import is_stream, read_file
from ctm.sim.jobs.npy import NpyError, read_npy
from ctm.sim.runtime.image import element_type
from ctm.sim.runtime.png import FORMATS as PNG_FORMATS
from ctm.sim.runtime.png import PngError, png, read_png

Array = npt.NDArray[Any]

NPY, PNG = ".npy", ".png"


class ArrayError(ValueError):
    """An array file that cannot be read or does not fit."""


def check_name(path: Path, data_format: DataFormat) -> None:
    """Reject a name whose ending stands for no kind of file, or for one that does not hold the format.

    Raises
    ------
    ArrayError
        With the endings or the formats that there are.
    """
    if is_picture(path) and data_format not in PNG_FORMATS:
        formats = " or ".join(known.name for known in PNG_FORMATS)
        raise ArrayError(f"'{path}' takes {formats}, not {data_format.name}; change the format, or name it .npy")


def check_npy(path: Path) -> None:
    """Reject the name of an output that no picture holds, and that does not end in .npy; a FIFO or a device has any.

    Raises
    ------
    ArrayError
        With the ending that there is.
    """
    if path.suffix.lower() != NPY and not is_stream(path):
        raise ArrayError(f"'{path}' must end in {NPY}")


def load_npy(path: Path) -> Array:
    """The array in an .npy file.

    Raises
    ------
    ArrayError
        It cannot be read, or is none.
    """
    if path.suffix.lower() == PNG:
        raise ArrayError(f"'{path}' is named as a picture, and an {NPY} file is wanted")
    try:
        return read_npy(_read(path))
    except NpyError as error:
        raise ArrayError(f"'{path}' {error}") from None


def load_array(path: Path, data_format: DataFormat) -> Array:
    """The array in a file, .npy or .png, for a buffer of a format; errors as `load_npy` and `check_name`."""
    check_name(path, data_format)
    if not is_picture(path):
        return load_npy(path)
    try:
        return read_png(_read(path), data_format)
    except PngError as error:
        raise ArrayError(f"'{path}' {error}") from None


def load_elements(path: Path, data_format: DataFormat, shape: tuple[int, int] | None = None) -> Array:
    """The elements in a file, as `elements` gives them; errors as `load_array` and `elements`."""
    return elements(path, load_array(path, data_format), data_format, shape)


def elements(
    path: Path,
    array: Array,
    data_format: DataFormat,
    shape: tuple[int, int] | None = None,
    limit: int = COORDINATE_LIMIT,
) -> Array:
    """The array of a file as elements of a format, [height, width, channels]; `shape` is [height, width] if fixed.

    `limit` is the longest side.

    Raises
    ------
    ArrayError
        Shape or type do not fit.
    """
    channels, kind = ELEMENTS[data_format].channels, np.dtype(element_type(data_format))
    if array.ndim == 2 and channels == 1:
        array = array[:, :, None]
    if array.dtype != kind:
        fix = f"convert it with .astype(np.{kind}) before it is saved"
        raise ArrayError(f"'{path}' holds {array.dtype}; {data_format.name} takes {kind}: {fix}")
    if array.ndim != 3 or array.shape[2] != channels:
        raise ArrayError(
            f"'{path}' has shape {list(array.shape)}; {data_format.name} takes [height, width, {channels}]"
        )
    if shape is not None and array.shape[:2] != shape:
        raise ArrayError(f"'{path}' is {list(array.shape[:2])} instead of {list(shape)} (height, width)")
    if not all(1 <= side <= limit for side in array.shape[:2]):
        raise ArrayError(f"'{path}' is {list(array.shape[:2])}; height and width must be 1..{limit}")
    return array


def filled(data_format: DataFormat, shape: tuple[int, int], fill: float) -> Array:
    """Elements that all hold `fill`.

    Raises
    ------
    ArrayError
        The format cannot hold it.
    """
    kind = np.dtype(element_type(data_format))
    if kind.kind == "u" and not (float(fill).is_integer() and 0 <= fill <= np.iinfo(kind).max):
        raise ArrayError(f"{data_format.name} holds whole numbers 0..{np.iinfo(kind).max}, not {fill}")
    with np.errstate(over="ignore"):
        return np.full((*shape, ELEMENTS[data_format].channels), fill, kind)


def encoded(path: Path, array: Array) -> bytes | memoryview:
    """What a file of this name holds for an array [height, width] or [height, width, channels]."""
    if is_picture(path):
        return png(array)
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getbuffer()


def least_bytes(path: Path, array: Array) -> int:
    """Bytes that the file surely takes, 0 where that depends on what the array holds."""
    return 0 if is_picture(path) else array.nbytes


def is_picture(path: Path) -> bool:
    """Whether a file is a .png by its name's ending; data through a FIFO or a device needs no ending to be .npy.

    Raises
    ------
    ArrayError
        It is neither .npy nor .png.
    """
    kind = path.suffix.lower()
    if kind not in (NPY, PNG) and not is_stream(path):
        raise ArrayError(f"'{path}' must end in {NPY} or {PNG}")
    return kind == PNG


def _read(path: Path) -> bytes:
    try:
        return read_file(path)
    except FileNotFoundError:
        raise ArrayError(f"there is no file '{path}'") from None
    except OSError as error:
        raise ArrayError(f"cannot read '{path}': {error.strerror or error}") from None

"""Array files of a job: .npy, checked against what the job says they hold."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.formats import ELEMENTS, DataFormat
from ctm.rtl.isa.limits import COORDINATE_LIMIT
from ctm.sim.runtime.image import element_type

Array = npt.NDArray[Any]


class ArrayError(ValueError):
    """An array file that cannot be read or does not fit."""


def load_array(path: Path) -> Array:
    """The array in an .npy file."""
    try:
        array = np.load(path, allow_pickle=False)
    except FileNotFoundError:
        raise ArrayError(f"there is no file '{path}'") from None
    except OSError as error:
        raise ArrayError(f"cannot read '{path}': {error.strerror or error}") from None
    except (ValueError, EOFError, SyntaxError, MemoryError):
        raise ArrayError(f"'{path}' is no .npy array file") from None
    if not isinstance(array, np.ndarray):
        array.close()
        raise ArrayError(f"'{path}' is an archive of arrays; give a single array (.npy)")
    return array


def load_elements(path: Path, data_format: DataFormat, shape: tuple[int, int] | None = None) -> Array:
    """Elements of a format, [height, width, channels]; `shape` is [height, width] where it is fixed.

    Raises
    ------
    ArrayError
        Shape or type do not fit.
    """
    array = load_array(path)
    channels, kind = ELEMENTS[data_format].channels, np.dtype(element_type(data_format))
    if array.ndim == 2 and channels == 1:
        array = array[:, :, None]
    if array.dtype != kind:
        raise ArrayError(f"'{path}' holds {array.dtype}; {data_format.name} takes {kind}")
    if array.ndim != 3 or array.shape[2] != channels:
        raise ArrayError(
            f"'{path}' has shape {list(array.shape)}; {data_format.name} takes [height, width, {channels}]"
        )
    if shape is not None and array.shape[:2] != shape:
        raise ArrayError(f"'{path}' is {list(array.shape[:2])} instead of {list(shape)} (height, width)")
    if not all(1 <= side <= COORDINATE_LIMIT for side in array.shape[:2]):
        raise ArrayError(f"'{path}' is {list(array.shape[:2])}; height and width must be 1..{COORDINATE_LIMIT}")
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

"""What kernels read, as plain Python: elements of numpy arrays; and pixels that are dropped."""

import math
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

from ctm.language.vectors import VECTORS, Vector, uint

if TYPE_CHECKING:
    import numpy.typing as npt

_Kind = TypeVar("_Kind")
_KINDS: dict[str, type] = {"i": int, "u": uint, "f": float}
_CHANNELS = 4


class Image(Generic[_Kind]):
    """What a kernel says of a parameter that is an array [height, width] or [height, width, channels].

    An `Image` has floats, or integers of 8 or 16 bits, which are read as 0 to 1. An `Image[int]` and an `Image[uint]`
    have whole numbers of 32 bits.
    """


class Discarded(Exception):  # noqa: N818 - it is no error
    """How a kernel ends, in plain Python, that drops its pixel."""


def discard() -> NoReturn:
    """Drop the pixel: nothing of it is kept, and the kernel ends."""
    raise Discarded


def texel(image: "npt.NDArray[Any] | Image[Any]", *coordinate: Any) -> Vector:
    """The element at a coordinate, (x, y) or a vector, rounded down and clamped to the edge.

    Four components of the image's kind; channels that it has not are 0, 0, 1.
    """
    pixels: Any = image
    height, width = pixels.shape[:2]
    x, y = coordinate[0] if len(coordinate) == 1 else coordinate
    return _element(pixels[_index(y, height), _index(x, width)])


def texture(image: "npt.NDArray[Any] | Image[Any]", *coordinate: Any) -> Vector:
    """The same with coordinates from 0 to 1 over the whole image."""
    pixels: Any = image
    height, width = pixels.shape[:2]
    x, y = coordinate[0] if len(coordinate) == 1 else coordinate
    return texel(image, x * width, y * height)


def _index(coordinate: float, size: int) -> int:
    return 0 if math.isnan(coordinate) else math.floor(min(max(coordinate, 0), size - 1))


def as_floats(integers: "npt.NDArray[Any]") -> "npt.NDArray[Any]":
    """Integers without a sign as float32 of 0 to 1, rounded once."""
    # To compile a kernel does not need numpy, whose import takes long.
    import numpy as np

    return integers.astype(np.float32) / np.float32(np.iinfo(integers.dtype).max)


def _element(values: Any) -> Vector:
    import numpy as np

    channels = np.atleast_1d(values)
    if channels.dtype.kind == "u" and channels.itemsize < _CHANNELS:
        channels = as_floats(channels)
    # An integer's missing channels hold the same bits.
    missing = np.array([0, 0, 0, 1], np.float32)
    missing = missing.view(channels.dtype) if channels.dtype.kind in "iu" else missing
    found = [*channels.tolist(), *missing[len(channels) :].tolist()]
    return VECTORS[_KINDS[channels.dtype.kind], _CHANNELS](*found)

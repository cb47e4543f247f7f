"""PNG files of elements, without loss: UINT8_4 is red, green, blue and alpha, UINT16_1 is gray of 16 bits.

The first row of a picture is the one on top. A PNG cannot hold floats: an output that is to be a picture has a
format of whole numbers, to which the machine itself converts.
"""

import io
import struct
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, UnidentifiedImageError

from ctm.rtl.isa.formats import DataFormat

Picture = npt.NDArray[Any]

FORMATS = (DataFormat.UINT8_4, DataFormat.UINT16_1)

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHUNK, _CHECK_BYTES = struct.Struct(">I4s"), 4
"""Length and kind of a chunk come before its data, its check after them."""
_BIT_DEPTH = 24
"""Where a PNG file has the bits of a channel: in the header, which comes first."""


class PngError(ValueError):
    """A file that is no PNG, or a picture that does not fit."""


def read_png(data: bytes, data_format: DataFormat) -> Picture:
    """The elements of a picture, [height, width, 4] or [height, width].

    UINT8_4 takes every picture of 8 bits: gray becomes red, green and blue; alpha is 255 where there is none. UINT16_1
    takes gray pictures; 8 bits become 16 of the same brightness.

    Raises
    ------
    PngError
        It is no picture, or one that would lose something.
    """
    if _is_cut(data):
        raise PngError(f"is truncated: its {len(data):,} bytes end before the picture does")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # Pillow only warns of pictures that are far larger than any buffer.
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            return _elements(data, data_format)
    except PngError:
        raise
    except UnidentifiedImageError:
        raise PngError("is no PNG picture") from None
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise PngError(f"is no PNG picture that can be read: {error}") from None


def png(array: Picture) -> bytes:
    """The PNG file of shades [height, width] or [height, width, 1] or colours [height, width, 3 or 4].

    Shades are uint8 or uint16, colours uint8.
    """
    buffer = io.BytesIO()
    Image.fromarray(array[:, :, 0] if array.shape[2:] == (1,) else array).save(buffer, "PNG")
    return buffer.getvalue()


def picture_of(array: Picture) -> tuple[Picture, bool] | None:
    """The elements of an image as a picture for a PNG, and whether every value had to be clamped.

    Floats from 0 to 1 are shades, four of them red, green, blue and alpha; what is beyond is clamped, NaN is 0. None:
    two channels are no picture.
    """
    if array.ndim == 3 and array.shape[2] == 2:
        return None
    if array.dtype != np.float32:
        return array, False
    values = np.nan_to_num(array, nan=0.0)
    clamped = np.clip(values, 0.0, 1.0)
    return np.rint(255 * clamped).astype(np.uint8), bool((clamped != array).all())


def _elements(data: bytes, data_format: DataFormat) -> Picture:
    with Image.open(io.BytesIO(data), formats=["PNG"]) as picture:
        deep, mode = data[_BIT_DEPTH] > 8, picture.mode
        if data_format is DataFormat.UINT8_4 and not deep:
            return np.asarray(picture.convert("RGBA"))
        if data_format is DataFormat.UINT16_1 and mode in ("1", "L"):
            return np.asarray(picture.convert("L")).astype(np.uint16) * np.uint16(257)
        if data_format is DataFormat.UINT16_1 and mode.startswith("I"):
            return np.asarray(picture).astype(np.uint16)
    depth = "16" if deep else "8"
    raise PngError(f"is a picture of {depth} bits and mode {mode}; UINT8_4 takes 8 bits, UINT16_1 gray pictures")


def _is_cut(data: bytes) -> bool:
    """Whether a PNG file ends in one of its chunks, or before the one that ends it."""
    if not data.startswith(_SIGNATURE):
        return bool(data) and _SIGNATURE.startswith(data)
    at = len(_SIGNATURE)
    while at + _CHUNK.size <= len(data):
        length, kind = _CHUNK.unpack_from(data, at)
        at += _CHUNK.size + length + _CHECK_BYTES
        if kind == b"IEND":
            return bool(at > len(data))
    return True

"""Elements of vertex buffers and rings as the components that a fetch gives."""

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.limits import CHANNELS
from ctm.sim.golden.dpp.batch import Floats, Integers, Mask
from ctm.sim.golden.r700.instruction import Numeric, VertexFormat

Bytes = npt.NDArray[np.uint8]
_UNSIGNED = {8: np.uint8, 16: np.uint16, 32: np.uint32}
_SIGNED = {8: np.int8, 16: np.int16, 32: np.int32}
_FLOAT = {16: np.float16, 32: np.float32}
_ONE = np.float32(1).view(np.uint32)


def gathered(space: Bytes, address: Integers, size: int) -> Bytes:
    """The `size` bytes at each address, [n, size]; they wrap at the end of the space."""
    found: Bytes = (
        space[(address[:, None] + np.arange(size)) % space.size]
        if space.size
        else np.zeros((address.size, size), np.uint8)
    )
    return found


def components(element: VertexFormat, raw: Bytes, inside: Mask) -> Floats:
    """Elements [n, bytes] as [4, n]; those that are not `inside` [n] are 0. Channels that are missing are 0, 0, 1."""
    result = np.zeros((CHANNELS, raw.shape[0]), np.uint32)
    result[CHANNELS - 1] = 1 if element.numeric is Numeric.INTEGER else _ONE
    raw = np.where(inside[:, None], raw, np.uint8(0))
    result[: element.channels] = _words(element, np.ascontiguousarray(raw)).T
    return result.view(np.float32)


def _words(element: VertexFormat, raw: Bytes) -> npt.NDArray[np.uint32]:
    """The channels of elements as words, [n, channels]."""
    bits = element.bits
    if element.numeric is Numeric.FLOAT:
        return raw.view(_FLOAT[bits]).astype(np.float32).view(np.uint32)
    values = raw.view((_SIGNED if element.signed else _UNSIGNED)[bits])
    if element.numeric is Numeric.INTEGER:
        return values.astype(np.int64).astype(np.uint32)
    if element.numeric is Numeric.SCALED:
        return values.astype(np.float32).view(np.uint32)
    highest = (1 << bits - 1) - 1 if element.signed else (1 << bits) - 1
    # In double a quotient of 32-bit numbers could be rounded twice, and not be the nearest float.
    quotient = values.astype(np.longdouble) / np.longdouble(highest)
    found: npt.NDArray[np.uint32] = np.maximum(quotient, np.longdouble(-1)).astype(np.float32).view(np.uint32)
    return found

"""Pictures: arrays as PNG files."""

from pathlib import Path

import numpy as np

from ctm.examples.expectation import Array
from ctm.sim.files import write_file
from ctm.sim.runtime.png import png

_LOWEST = 256
"""Pictures with fewer rows are enlarged by a whole factor."""

_DARK_TO_BRIGHT = np.array(
    [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]], float
)  # fmt: skip
_NIGHT_TO_DAY = np.array(
    [[0, 7, 100], [32, 107, 203], [237, 255, 255], [255, 170, 0], [120, 30, 10], [0, 7, 100]], float
)  # fmt: skip


def save(colours: Array, path: Path) -> None:
    """Write colours [height, width, 3] or shades [height, width], uint8, first row on top."""
    factor = max(1, -(-_LOWEST // colours.shape[0]))
    write_file(path, png(colours.repeat(factor, axis=0).repeat(factor, axis=1)))


def shades(values: Array) -> Array:
    """Values from 0 to 1 as shades of grey."""
    found: Array = np.rint(np.clip(values, 0, 1) * 255).astype(np.uint8)
    return found


def heat(values: Array) -> Array:
    """Values from 0 to 1, dark to bright."""
    return _mapped(np.clip(values, 0, 1), _DARK_TO_BRIGHT)


def cycle(values: Array) -> Array:
    """Values in colours that come again with every whole number."""
    return _mapped(values % 1, _NIGHT_TO_DAY)


def _mapped(values: Array, anchors: Array) -> Array:
    positions = np.linspace(0, 1, len(anchors))
    channels = [np.interp(values, positions, anchors[:, channel]) for channel in range(3)]
    return np.rint(np.stack(channels, axis=-1)).astype(np.uint8)


def beside(*pictures: Array) -> Array:
    """Pictures of one height, from left to right with a white gap between them."""
    coloured = [picture if picture.ndim == 3 else picture[:, :, None].repeat(3, axis=2) for picture in pictures]
    gap = np.full((coloured[0].shape[0], 4, 3), 255, np.uint8)
    strips = [strip for picture in coloured for strip in (gap, picture)]
    return np.concatenate(strips[1:], axis=1)

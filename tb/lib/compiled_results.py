"""Results of compiled programs: images on a device, and how they agree with what a reference gave."""

from dataclasses import dataclass

import numpy as np

from ctm.rtl.isa.formats import DataFormat
from ctm.sim.runtime import Device, Image, Layout


@dataclass(frozen=True)
class Result:
    """What a run left: outputs [targets, height, width, 4], conditional values [height, width] where there are any."""

    outputs: np.ndarray
    depth: np.ndarray | None

    @property
    def bits(self) -> list[np.ndarray]:
        """The same as words."""
        arrays = [self.outputs] if self.depth is None else [self.outputs, self.depth]
        return [array.view(np.uint32) for array in arrays]


def image(device: Device, array: np.ndarray) -> Image:
    """An array [height, width, 4 or 1] as an image of floats."""
    height, width, channels = array.shape
    data_format = DataFormat.FLOAT32_4 if channels == 4 else DataFormat.FLOAT32_1
    return device.image(Layout(width=width, height=height, format=data_format), array)


def matches(found: np.ndarray, expected: np.ndarray, tolerance: float) -> np.ndarray:
    """Where `found` is within a relative tolerance of `expected`, equal to it, or a NaN like it."""
    with np.errstate(invalid="ignore"):
        right: np.ndarray = np.abs(found - expected) <= tolerance * np.maximum(1, np.abs(expected))
    return right | (np.isnan(found) & np.isnan(expected)) | (found == expected)

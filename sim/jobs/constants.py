"""The constants of a launch, as the machine reads them."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ctm.rtl.isa.limits import BOOL_CONSTANTS, FLOAT_CONSTANTS, INT_CONSTANTS
from ctm.sim.jobs.arrays import Array, ArrayError, load_npy
from ctm.sim.jobs.schema import Constants


@dataclass(frozen=True, kw_only=True)
class ConstantFiles:
    """Constants by index: four words of a float constant, the word of an int constant, a boolean."""

    floats: dict[int, tuple[int, ...]] = field(default_factory=dict)
    ints: dict[int, int] = field(default_factory=dict)
    bools: dict[int, bool] = field(default_factory=dict)

    def __or__(self, other: "ConstantFiles") -> "ConstantFiles":
        """Both; where they name the same constant, the other's."""
        return ConstantFiles(
            floats=self.floats | other.floats, ints=self.ints | other.ints, bools=self.bools | other.bools
        )

    def images(self) -> tuple[bytes, bytes, bytes]:
        """What set_constf_fmt, set_consti_fmt and set_constb_fmt point at; source: CTM Guide p. 7."""
        floats = np.zeros((FLOAT_CONSTANTS, 4), "<u4")
        for index, words in self.floats.items():
            floats[index] = words
        ints = np.zeros(INT_CONSTANTS, "<u4")
        for index, word in self.ints.items():
            ints[index] = word
        bools = np.zeros(BOOL_CONSTANTS, "<u4")
        for index, value in self.bools.items():
            bools[index] = value
        return floats.tobytes(), ints.tobytes(), bools.tobytes()


def constant_files(section: Constants, folder: Path) -> ConstantFiles:
    """The constants of a job's section; paths are relative to `folder`.

    Raises
    ------
    ArrayError
        The file of float constants cannot be read or does not fit.
    """
    floats = section.floats
    if isinstance(floats, str):
        array = _float_constants(folder / floats)
        floats = {index: (int(r), int(g), int(b), int(a)) for index, (r, g, b, a) in enumerate(array.view(np.uint32))}
    ints = {n: count | start << 8 | (step & 0xFF) << 16 for n, (count, start, step) in section.ints.items()}
    return ConstantFiles(floats=dict(floats), ints=ints, bools=dict(section.bools))


def _float_constants(path: Path) -> Array:
    array = load_npy(path)
    if array.dtype != np.float32 or array.ndim != 2 or array.shape[1] != 4 or len(array) > FLOAT_CONSTANTS:
        raise ArrayError(f"'{path}' is {array.dtype} {list(array.shape)}; constants are float32 [n, 4], n <= 256")
    return array

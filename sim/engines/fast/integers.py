"""The int and bool constants, as a program reads them."""

import numpy as np
import numpy.typing as npt
from llvmlite import ir

from ctm.sim.engines.fast.kernel import Kernel
from ctm.sim.engines.fast.parameters import Slot
from ctm.sim.engines.fast.vector.lanes import BIT, INT, POINTER, Value
from ctm.sim.golden.dpp.constants import Constants

_COUNT, _START, _STEP, _FIELDS = range(4)


def int_words(constants: Constants) -> npt.NDArray[np.int32]:
    """The int constants as `Integers` reads them."""
    return np.array([(loop.count, loop.start, loop.step) for loop in constants.all_ints()], np.int32)


def bool_word(constants: Constants) -> int:
    """The bool constants as `Integers` reads them."""
    return sum(value << index for index, value in enumerate(constants.all_bools()))


class Integers:
    """Reads them where the kernel's builder stands."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._words = kernel.parameter(Slot.INTEGERS, POINTER)
        self._booleans = kernel.parameter(Slot.BOOLEANS, INT)

    def count(self, index: int) -> Value:
        """Iterations of a loop."""
        return self._field(index, _COUNT)

    def start(self, index: int) -> Value:
        """First aL."""
        return self._field(index, _START)

    def step(self, index: int) -> Value:
        """What is added to aL."""
        return self._field(index, _STEP)

    def boolean(self, index: int) -> Value:
        """One bit."""
        builder = self._kernel.lanes.builder
        return builder.trunc(builder.lshr(self._booleans, ir.Constant(INT, index)), BIT)

    def _field(self, index: int, field: int) -> Value:
        builder = self._kernel.lanes.builder
        at = builder.gep(self._words, [ir.Constant(INT, _FIELDS * index + field)], source_etype=INT)
        return builder.load(at, typ=INT)

"""The constants, as a program reads them. None of them changes while it runs."""

from llvmlite import ir

from ctm.rtl.isa.limits import CHANNELS, FLOAT_CONSTANTS
from ctm.sim.engines.fast.kernel import Kernel
from ctm.sim.engines.fast.parameters import Slot
from ctm.sim.engines.fast.vector.lanes import BIT, INT, LONG, POINTER, Value

_COUNT, _START, _STEP, _FIELDS = range(4)


class Constants:
    """Reads them where the kernel's builder stands."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel, self._lanes = kernel, kernel.lanes
        self._floats = kernel.parameter(Slot.CONSTANTS, POINTER)
        self._integers = kernel.parameter(Slot.INTEGERS, POINTER)
        self._booleans = kernel.parameter(Slot.BOOLEANS, INT)
        self._unchanging = kernel.module.add_metadata([])

    def read(self, row: int, channel: int) -> Value:
        """A channel of a float constant in all lanes; 0 if there is no such row."""
        if row >= FLOAT_CONSTANTS:
            return self._lanes.none
        return self._lanes.splat(self._load(self._floats, ir.Constant(INT, CHANNELS * row + channel)))

    def read_at(self, row: int, index: Value, channel: int) -> Value:
        """A channel of the constant `row + index`, `index` being a scalar that is not negative."""
        builder = self._lanes.builder
        number = builder.add(index, ir.Constant(INT, row))
        exists = builder.icmp_unsigned("<", number, ir.Constant(INT, FLOAT_CONSTANTS))
        number = builder.select(exists, number, ir.Constant(INT, 0))
        word = builder.add(builder.mul(number, ir.Constant(INT, CHANNELS)), ir.Constant(INT, channel))
        found = self._load(self._floats, word)
        return self._lanes.splat(builder.select(exists, found, ir.Constant(INT, 0)))

    def read_each(self, row: int, index: Value, channel: int) -> Value:
        """A channel of each lane's own constant `row + index`."""
        lanes, builder = self._lanes, self._lanes.builder
        rows = builder.add(index, lanes.integer(row))
        exists = builder.icmp_unsigned("<", rows, lanes.integer(FLOAT_CONSTANTS))
        word = builder.add(builder.mul(rows, lanes.integer(CHANNELS)), lanes.integer(channel))
        return self.gather(word, exists)

    def gather(self, word: Value, exists: Value) -> Value:
        """Each lane's own word of all constants, and 0 where it does not exist."""
        lanes = self._lanes
        result = ir.Constant(lanes.integers, ir.Undefined)
        for lane, scalar in enumerate(lanes.scalars(lanes.choose(exists, word, lanes.none))):
            result = lanes.put(result, self._load(self._floats, scalar), lane)
        return lanes.choose(exists, result, lanes.none)

    def rounds(self, index: int) -> Value:
        """Rounds of a loop."""
        return self._integer(index, _COUNT)

    def start(self, index: int) -> Value:
        """First aL."""
        return self._integer(index, _START)

    def step(self, index: int) -> Value:
        """What is added to aL."""
        return self._integer(index, _STEP)

    def boolean(self, index: int) -> Value:
        """One bit."""
        builder = self._lanes.builder
        return builder.trunc(builder.lshr(self._booleans, ir.Constant(INT, index)), BIT)

    def _integer(self, index: int, field: int) -> Value:
        return self._load(self._integers, ir.Constant(INT, _FIELDS * index + field))

    def _load(self, words: Value, number: Value) -> Value:
        builder = self._lanes.builder
        loaded = builder.load(builder.gep(words, [builder.zext(number, LONG)], source_etype=INT), typ=INT)
        # So that LLVM may read it before a loop.
        loaded.set_metadata("invariant.load", self._unchanging)
        return loaded

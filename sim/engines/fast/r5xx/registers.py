"""The registers of a vector's pixels, in memory that LLVM promotes to values where it can."""

from collections.abc import Callable, Iterable

from llvmlite import ir

from ctm.rtl.isa.limits import CHANNELS, TEMPORARIES, WORD_BYTES
from ctm.rtl.isa.r5xx.limits import LOOP_INDEX_BITS, LOOP_STACK
from ctm.sim.engines.fast.vector.lanes import BIT, BYTE, INT, LONG, ONE, POINTER, Lanes, Value
from ctm.sim.golden.r5xx.instruction import Address, Destination

_ABSENT, _SWALLOWED = TEMPORARIES, TEMPORARIES + 1
_ROWS = TEMPORARIES + 2
"""Rows after the temporaries: what those that do not exist read, and where their writes go."""


class Temporaries:
    """The temporaries below `count`; the others read 0 and swallow writes.

    `used` are the channels that the program names, each of which is `span` lanes wide. With `relative` ones it may
    address any, so that all are kept in one array.
    """

    def __init__(
        self,
        lanes: Lanes,
        used: Iterable[tuple[int, int]],
        count: int,
        *,
        span: Callable[[tuple[int, int]], int],
        relative: bool,
    ) -> None:
        self._lanes, self._count = lanes, count
        self._array = None
        self._pointers: dict[tuple[int, int], Value] = {}
        if relative:
            self._array = lanes.builder.alloca(lanes.floats, size=ir.Constant(INT, _ROWS * CHANNELS))
        else:
            kept = sorted({*used, *((0, channel) for channel in range(CHANNELS))})
            self._pointers = {
                pointer: lanes.builder.alloca(lanes.at(span(pointer)).floats) for pointer in kept if pointer[0] < count
            }

    def clear(self) -> None:
        """Zero in all that a vector can read."""
        builder = self._lanes.builder
        if self._array is None:
            zero = self._lanes.at(ONE)
            zero = zero.fenced(zero.single(0))
            for pointer in self._pointers.values():
                lanes = self._lanes.at(pointer.allocated_type.count)
                builder.store(lanes.spread(zero), pointer)
            return
        size = ir.Constant(LONG, _ROWS * CHANNELS * WORD_BYTES * self._lanes.width)
        zeros = (ir.Constant(BYTE, 0), size, ir.Constant(BIT, 0))
        self._lanes.call("llvm.memset.p0.i64", ir.VoidType(), builder.bitcast(self._array, POINTER), *zeros)

    def first(self, channel: int) -> Value:
        """Where a channel of temporary 0 is."""
        pointer = self.pointer(Destination(0, relative=False), channel, None)
        assert pointer is not None
        return pointer

    def read(self, operand: Address | Destination, channel: int, loop_index: Value) -> Value:
        """A channel of the temporary that an address means, as wide as it is kept."""
        if self._array is not None:
            at = self._element(operand, channel, loop_index, _ABSENT)
        elif (operand.index, channel) in self._pointers:
            at = self._pointers[operand.index, channel]
        else:
            one = self._lanes.at(ONE)
            return one.fenced(one.single(0))
        return self._lanes.builder.load(at, typ=self._lanes.floats if self._array is not None else at.allocated_type)

    def pointer(self, operand: Address | Destination, channel: int, loop_index: Value) -> Value | None:
        """Where writes of a channel go, None if nowhere."""
        if self._array is not None:
            return self._element(operand, channel, loop_index, _SWALLOWED)
        return self._pointers.get((operand.index, channel))

    def _element(self, operand: Address | Destination, channel: int, loop_index: Value, otherwise: int) -> Value:
        builder = self._lanes.builder
        row: Value = ir.Constant(INT, operand.index if operand.index < self._count else otherwise)
        if operand.relative:
            row = builder.add(ir.Constant(INT, operand.index), loop_index)
            row = builder.and_(row, ir.Constant(INT, TEMPORARIES - 1))
            exists = builder.icmp_unsigned("<", row, ir.Constant(INT, self._count))
            row = builder.select(exists, row, ir.Constant(INT, otherwise))
        number = builder.add(builder.mul(row, ir.Constant(INT, CHANNELS)), ir.Constant(INT, channel))
        return builder.gep(self._array, [number], source_etype=self._lanes.floats)


class Registers:
    """All that pixels have beside temporaries, and the loop frames of their wavefronts.

    Masks are kept ones. `indices[n]` is aL inside the n-th loop that has one; outside of all it is 0.
    """

    def __init__(self, lanes: Lanes, outputs: Iterable[tuple[int, int]]) -> None:
        self._lanes = lanes
        builder = lanes.builder

        def words() -> Value:
            return builder.alloca(lanes.integers)

        self.here, self.active, self.left, self.counter, self.valid_mask, self.alu_result = (words() for _ in range(6))
        """`here`: wavefronts that execute; `left`: lanes that are out of a loop; `counter`: branch counters."""
        self.predicates = [words() for _ in range(CHANNELS)]
        self.conditional = builder.alloca(lanes.floats)
        named = sorted(set(outputs))
        self.outputs = {name: builder.alloca(lanes.floats) for name in named}
        self.written = {name: words() for name in named}
        self.entered, self.broken, self.continued = ([words() for _ in range(LOOP_STACK)] for _ in range(3))
        self.iterations = [builder.alloca(INT) for _ in range(LOOP_STACK)]
        self._indices = [builder.alloca(INT) for _ in range(LOOP_STACK)]

    def clear(self, here: Value, conditional: Value) -> None:
        """As at a program's start."""
        lanes, builder = self._lanes, self._lanes.builder
        none = [self.left, self.counter, self.alu_result, *self.predicates, *self.written.values()]
        none += [*self.entered, *self.broken, *self.continued]
        for pointer in none:
            builder.store(lanes.none, pointer)
        builder.store(here, self.here)
        for pointer in (self.active, self.valid_mask):
            builder.store(lanes.all, pointer)
        for pointer in self.outputs.values():
            builder.store(lanes.single(0), pointer)
        builder.store(conditional, self.conditional)

    def mask(self, pointer: Value) -> Value:
        """A mask, or counters."""
        return self._lanes.builder.load(pointer, typ=self._lanes.integers)

    def loop_index(self, level: int) -> Value:
        """AL inside `level` loops."""
        if level == 0:
            return ir.Constant(INT, 0)
        return self._lanes.builder.load(self._indices[level - 1], typ=INT)

    def set_loop_index(self, level: int, value: Value) -> None:
        """Set aL inside `level` loops."""
        wrapped = self._lanes.builder.and_(value, ir.Constant(INT, (1 << LOOP_INDEX_BITS) - 1))
        self._lanes.builder.store(wrapped, self._indices[level - 1])

"""The general-purpose registers and clause temporaries of a vector's lanes, as words."""

from llvmlite import ir

from ctm.rtl.isa.limits import CHANNELS, WORD_BYTES
from ctm.rtl.isa.r700.limits import FIRST_CLAUSE_TEMPORARY
from ctm.sim.engines.fast.vector.lanes import BIT, BYTE, INT, LONG, POINTER, Lanes, Value


class Registers:
    """Registers below `count` and the clause temporaries, in memory that LLVM promotes to values where it can.

    With `relative` addresses the general-purpose ones lie in one array, after them a register that does not exist
    and one that swallows writes.
    """

    def __init__(self, lanes: Lanes, count: int, *, relative: bool) -> None:
        self._lanes, self._count = lanes, count
        self._absent, self._swallowed = count, count + 1
        self._array = None
        if relative:
            self._array = lanes.builder.alloca(lanes.integers, size=ir.Constant(INT, (count + 2) * CHANNELS))
            # Whole vectors and single words are stored in it.
            self._array.type = POINTER
        self._pointers: dict[tuple[int, int], Value] = {}

    def clear(self) -> None:
        """Zero in all that was named; to be called when all was translated."""
        builder = self._lanes.builder
        for pointer in self._pointers.values():
            builder.store(self._lanes.none, pointer)
        if self._array is not None:
            size = ir.Constant(LONG, (self._count + 2) * CHANNELS * WORD_BYTES * self._lanes.width)
            zeros = (ir.Constant(BYTE, 0), size, ir.Constant(BIT, 0))
            self._lanes.call("llvm.memset.p0.i64", ir.VoidType(), self._array, *zeros)

    def pointer(self, number: int, channel: int) -> Value | None:
        """Where a channel of a register is; None if there is no such register."""
        if number < self._count and self._array is not None:
            return self._element(ir.Constant(INT, number), channel)
        if self._count <= number < FIRST_CLAUSE_TEMPORARY:
            return None
        if (number, channel) not in self._pointers:
            with self._lanes.builder.goto_entry_block():
                self._pointers[number, channel] = self._lanes.builder.alloca(self._lanes.integers)
        return self._pointers[number, channel]

    def read(self, number: int, channel: int) -> Value:
        """A channel of a register; 0 if there is no such register."""
        return self._loaded(self.pointer(number, channel))

    def write(self, number: int, channel: int, words: Value, mask: Value) -> None:
        """Assign words to a channel of a register, if there is one, in the lanes of `mask`."""
        self._store(self.pointer(number, channel), words, mask)

    def read_at(self, number: int, index: Value, channel: int) -> Value:
        """A channel of register `number + index`, `index` being a scalar that is not negative."""
        return self._loaded(self._element(self._row(number, index, self._absent), channel))

    def write_at(self, number: int, index: Value, channel: int, words: Value, mask: Value) -> None:
        """Assign to a channel of register `number + index` in the lanes of `mask`; see `read_at`."""
        self._store(self._element(self._row(number, index, self._swallowed), channel), words, mask)

    def read_each(self, number: int, index: Value, channel: int) -> Value:
        """A channel of each lane's own register `number + index`."""
        lanes, (rows, exists) = self._lanes, self._rows(number, index)
        pointer = self._each(lanes.choose(exists, rows, lanes.integer(self._absent)), channel)
        result = ir.Constant(lanes.integers, ir.Undefined)
        for lane, scalar in enumerate(lanes.scalars(pointer)):
            result = lanes.put(result, lanes.builder.load(self._word(scalar), typ=INT), lane)
        return result

    def write_each(self, number: int, index: Value, channel: int, words: Value, mask: Value) -> None:
        """Assign to a channel of each lane's own register `number + index`, in the lanes of `mask`."""
        lanes, (rows, exists) = self._lanes, self._rows(number, index)
        chosen = lanes.builder.and_(exists, lanes.chosen(mask))
        pointer = self._each(lanes.choose(chosen, rows, lanes.integer(self._swallowed)), channel)
        for scalar, word in zip(lanes.scalars(pointer), lanes.scalars(words), strict=True):
            lanes.builder.store(word, self._word(scalar))

    def _loaded(self, pointer: Value | None) -> Value:
        return self._lanes.none if pointer is None else self._lanes.builder.load(pointer, typ=self._lanes.integers)

    def _store(self, pointer: Value | None, words: Value, mask: Value) -> None:
        if pointer is None:
            return
        self._lanes.builder.store(self._lanes.where(mask, words, self._loaded(pointer)), pointer)

    def _row(self, number: int, index: Value, otherwise: int) -> Value:
        builder = self._lanes.builder
        row = builder.add(index, ir.Constant(INT, number))
        exists = builder.icmp_unsigned("<", row, ir.Constant(INT, self._count))
        return builder.select(exists, row, ir.Constant(INT, otherwise))

    def _element(self, row: Value, channel: int) -> Value:
        builder = self._lanes.builder
        number = builder.add(builder.mul(row, ir.Constant(INT, CHANNELS)), ir.Constant(INT, channel))
        return builder.gep(self._array, [number], source_etype=self._lanes.integers)

    def _rows(self, number: int, index: Value) -> tuple[Value, Value]:
        """The numbers of registers, and the bits of the lanes whose register exists."""
        builder = self._lanes.builder
        rows = builder.add(index, self._lanes.integer(number))
        return rows, builder.icmp_unsigned("<", rows, self._lanes.integer(self._count))

    def _each(self, rows: Value, channel: int) -> Value:
        """Each lane's word in the array."""
        lanes, builder = self._lanes, self._lanes.builder
        elements = builder.add(builder.mul(rows, lanes.integer(CHANNELS)), lanes.integer(channel))
        own = lanes.integer_for_each(range(lanes.width))
        return builder.add(builder.mul(elements, lanes.integer(lanes.width)), own)

    def _word(self, number: Value) -> Value:
        builder = self._lanes.builder
        return builder.gep(self._array, [builder.zext(number, LONG)], source_etype=INT)

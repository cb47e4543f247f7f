"""Vectors of one word for each lane, and the instructions on them that everything else is made of."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from ctm.rtl.isa.limits import QUAD, WORD_BYTES

Value = Any
"""A value of LLVM's IR; llvmlite has no types."""

BIT, BYTE, SHORT, INT, LONG = (ir.IntType(bits) for bits in (1, 8, 16, 32, 64))
FLOAT, DOUBLE = ir.FloatType(), ir.DoubleType()
POINTER = ir.PointerType()

ONE, ROWS = 1, 2
"""Widths of vectors that stand for wider ones: one value for all lanes, or one for each row of the quads."""

SIGN = 1 << 31
MAGNITUDE = SIGN - 1


class Lanes:
    """Appends instructions on vectors of `width` lanes where `builder` stands.

    `fused` says that the host has a fused multiply-add, `register` how many lanes one of its registers holds. Masks of
    lanes are vectors of integers, 0 or -1, where they are kept, and vectors of bits where they are made and used.
    """

    def __init__(self, builder: Value, width: int, *, fused: bool, register: int) -> None:
        self.builder = builder
        self.width = width
        self.fused = fused
        self._widest = register
        self._register = min(max(width, QUAD), register)
        self.floats, self.integers, self.doubles, self.longs, self.bits = (
            ir.VectorType(kind, width) for kind in (FLOAT, INT, DOUBLE, LONG, BIT)
        )

    def at(self, width: int) -> "Lanes":
        """The same on vectors of another width."""
        return self if width == self.width else Lanes(self.builder, width, fused=self.fused, register=self._widest)

    def of(self, value: Value) -> "Lanes":
        """The same on vectors as wide as a value."""
        return self.at(value.type.count)

    def spread(self, value: Value) -> Value:
        """A vector that stands for one of this width, as wide as that."""
        if value.type.count == self.width:
            return value
        first = [lane % QUAD // 2 if value.type.count == ROWS else 0 for lane in range(self.width)]
        return self.builder.shuffle_vector(value, value, self.integer_for_each(first))

    def contracted(self, value: Value) -> Value:
        """Of a wider vector that has the same in many lanes the one of this width that stands for it."""
        if value.type.count == self.width:
            return value
        lanes = [0, 2] if self.width == ROWS else range(self.width)
        return self.builder.shuffle_vector(value, value, self.integer_for_each(lanes))

    # Constants.

    def single(self, value: float) -> Value:
        """The same float32 in all lanes; a NaN by its bits instead."""
        return ir.Constant(self.floats, [float(np.float32(value))] * self.width)

    def integer(self, value: int) -> Value:
        """The same 32-bit word in all lanes."""
        return ir.Constant(self.integers, [(value + SIGN) % (1 << 32) - SIGN] * self.width)

    def integer_for_each(self, values: Sequence[int]) -> Value:
        """A 32-bit word for each lane."""
        return ir.Constant(self.integers, list(values))

    def double(self, value: float) -> Value:
        """The same float64 in all lanes."""
        return ir.Constant(self.doubles, [value] * self.width)

    def long(self, value: int) -> Value:
        """The same 64-bit word in all lanes."""
        return ir.Constant(self.longs, [(value + (1 << 63)) % (1 << 64) - (1 << 63)] * self.width)

    @property
    def none(self) -> Value:
        """The mask of no lane."""
        return self.integer(0)

    @property
    def all(self) -> Value:
        """The mask of all lanes."""
        return self.integer(-1)

    # Types.

    def words(self, values: Value) -> Value:
        """The bits of floats."""
        return self.builder.bitcast(values, self.integers)

    def as_floats(self, words: Value) -> Value:
        """The floats that have these bits."""
        return self.builder.bitcast(words, self.floats)

    def mask(self, bits: Value) -> Value:
        """A mask to keep, of bits."""
        return self.builder.sext(bits, self.integers)

    def chosen(self, mask: Value) -> Value:
        """The bits of a mask that was kept."""
        return self.builder.icmp_signed("<", mask, self.none)

    # Moves.

    def splat(self, scalar: Value) -> Value:
        """A scalar in all lanes."""
        kind = ir.VectorType(scalar.type, self.width)
        first = self.builder.insert_element(ir.Constant(kind, ir.Undefined), scalar, ir.Constant(INT, 0))
        return self.builder.shuffle_vector(first, first, self.integer(0))

    def pick(self, vector: Value, lane: int) -> Value:
        """The scalar of one lane."""
        return self.builder.extract_element(vector, ir.Constant(INT, lane))

    def scalars(self, vector: Value) -> list[Value]:
        """The scalars of all lanes."""
        return [self.pick(vector, lane) for lane in range(self.width)]

    def memory(self) -> Value:
        """A pointer to a vector of words, see `scalars_in`."""
        with self.builder.goto_entry_block():
            pointer = self.builder.alloca(self.integers)
        pointer.align = WORD_BYTES * self.width
        return pointer

    def scalars_in(self, memory: Value, words: Value) -> list[Value]:
        """The scalars of all lanes, stored and loaded: an instruction for each, where it is two out of a register.

        Worth it where all lanes differ: LLVM does not see which are the same.
        """
        builder = self.builder
        builder.store(words, memory)
        # LLVM would take them out of the register all the same if it knew this pointer.
        hidden = builder.call(ir.InlineAsm(ir.FunctionType(POINTER, [POINTER]), "", "=r,0"), [memory])
        pointers = [builder.gep(hidden, [ir.Constant(INT, lane)], source_etype=INT) for lane in range(self.width)]
        return [builder.load(pointer, typ=INT) for pointer in pointers]

    def gathered(self, pointers: Sequence[Value], count: int, align: int) -> list[Value]:
        """Two or four neighbouring words that each lane's pointer points at, as a vector for each of them."""
        kind, loaded = ir.VectorType(INT, count), []
        for pointer in pointers:
            loaded.append(self.builder.load(pointer, typ=kind))
            loaded[-1].align = align
        # Joined so that a word remains in its 128 bits when they are transposed: that is what hosts do fastest.
        if self.width < QUAD:
            words, step = self.joined(loaded), range(0, self.width * count, count)
            orders = [self.integer_for_each([first + at for first in step]) for at in range(count)]
            return [self.builder.shuffle_vector(words, words, order) for order in orders]
        if count == 2:
            quads = [loaded[at : at + QUAD] for at in range(0, self.width, QUAD)]
            low, high = (self.joined([each for quad in quads for each in quad[half:][:2]]) for half in (0, 2))
            return [self._by_quad(low, high, order) for order in ((0, 2, 4, 6), (1, 3, 5, 7))]
        return self.transposed([self.joined(loaded[lane::QUAD]) for lane in range(QUAD)])

    def transposed(self, vectors: Sequence[Value]) -> list[Value]:
        """Four vectors of words, of which every four lanes are transposed with the vectors."""
        first, second, third, fourth = vectors
        halves = [self.interleaved(first, third), self.interleaved(second, fourth)]
        return [each for one, other in zip(*halves, strict=True) for each in self.interleaved(one, other)]

    def joined(self, vectors: Sequence[Value]) -> Value:
        """Vectors, one after the other; a power of two of them."""
        while len(vectors) > 1:
            count = 2 * vectors[0].type.count
            order = ir.Constant(ir.VectorType(INT, count), list(range(count)))
            pairs = zip(vectors[::2], vectors[1::2], strict=True)
            vectors = [self.builder.shuffle_vector(one, other, order) for one, other in pairs]
        return vectors[0]

    def interleaved(self, one: Value, other: Value) -> tuple[Value, Value]:
        """Of every four words of two vectors the lower two, interleaved, and the upper two."""
        return self._by_quad(one, other, (0, 4, 1, 5)), self._by_quad(one, other, (2, 6, 3, 7))

    def _by_quad(self, one: Value, other: Value, order: Sequence[int]) -> Value:
        """For every four lanes words of those of two vectors: 0 to 3 are those of one, 4 to 7 of the other."""
        lanes = [
            quad + at if at < QUAD else self.width + quad + at - QUAD
            for quad in range(0, self.width, QUAD)
            for at in order
        ]
        return self.builder.shuffle_vector(one, other, self.integer_for_each(lanes))

    def put(self, vector: Value, scalar: Value, lane: int) -> Value:
        """The vector with another scalar in one lane."""
        return self.builder.insert_element(vector, scalar, ir.Constant(INT, lane))

    def shuffle(self, vector: Value, lanes: Sequence[int]) -> Value:
        """For each lane the scalar of the lane that `lanes` has there."""
        return self.builder.shuffle_vector(vector, vector, self.integer_for_each(lanes))

    def of_quad(self, vector: Value, lane: int) -> Value:
        """Of each quad, one lane's scalar in all four."""
        return self.shuffle(vector, [at // QUAD * QUAD + lane for at in range(self.width)])

    def choose(self, bits: Value, one: Value, other: Value) -> Value:
        """`one` in the lanes of `bits`, else `other`."""
        return self.builder.select(bits, one, other)

    def compare(self, comparison: str, one: Value, other: Value) -> Value:
        """The bits of a comparison of floats; of those with a NaN only != holds.

        LLVM 22.1 takes `fcmp oeq (bitcast x), 0` for a comparison of integers, in which a denormal is no zero, even
        where denormals are off: so == and != do not see where their operands come from.
        """
        if comparison in ("==", "!="):
            one, other = self.fenced(one), self.fenced(other)
        compare = self.builder.fcmp_unordered if comparison == "!=" else self.builder.fcmp_ordered
        return compare(comparison, one, other)

    def fenced(self, values: Value) -> Value:
        """The same floats, of which LLVM does not know where they come from; it costs nothing.

        For numbers that a program may compute with: x * 1, x - 0 and the like are x to LLVM, but 0 to the machine if x
        is a denormal. (LLVM's own fences are no barriers for constants.)
        """
        kind = ir.VectorType(FLOAT, self._register)
        barrier = ir.InlineAsm(ir.FunctionType(kind, [kind]), "", "=x,0")
        if self.width < self._register:
            return self.contracted(self.builder.call(barrier, [self.at(self._register).spread(values)]))
        return self.joined([self.builder.call(barrier, [each]) for each in self._registers_of(values)])

    def _registers_of(self, values: Value) -> list[Value]:
        """Floats as the host's registers hold them."""
        if self.width == self._register:
            return [values]
        kind = ir.VectorType(INT, self._register)
        firsts = range(0, self.width, self._register)
        orders = [ir.Constant(kind, list(range(first, first + self._register))) for first in firsts]
        return [self.builder.shuffle_vector(values, values, order) for order in orders]

    def where(self, mask: Value, one: Value, other: Value) -> Value:
        """`one` in the lanes of a kept mask, else `other`."""
        return self.choose(self.chosen(mask), one, other)

    # Masks.

    def any(self, mask: Value) -> Value:
        """One bit: whether a lane is in the mask."""
        return self.builder.icmp_unsigned("!=", self._packed(mask), ir.Constant(ir.IntType(self.width), 0))

    def count(self, mask: Value) -> Value:
        """Lanes in the mask, a 64-bit scalar."""
        packed = self._packed(mask)
        counted = self.call(f"llvm.ctpop.i{self.width}", packed.type, packed)
        return self.builder.zext(counted, LONG)

    def lowest(self, mask: Value) -> Value:
        """The lowest lane in the mask, of which there is one; a 32-bit scalar."""
        packed = self._packed(mask)
        is_poison = ir.Constant(BIT, 1)
        counted = self.call(f"llvm.cttz.i{self.width}", packed.type, packed, is_poison)
        if self.width < INT.width:
            return self.builder.zext(counted, INT)
        return self.builder.trunc(counted, INT) if self.width > INT.width else counted

    def any_in_each(self, mask: Value, group: int) -> Value:
        """A mask of whole wavefronts of `wavefront` lanes: those of which a lane is in `mask`."""
        if group == self.width:
            return self.mask(self.splat(self.any(mask)))
        distance = 1
        while distance < group:
            others = [lane ^ distance for lane in range(self.width)]
            mask = self.builder.or_(mask, self.shuffle(mask, others))
            distance *= 2
        return mask

    def _packed(self, mask: Value) -> Value:
        return self.builder.bitcast(self.chosen(mask), ir.IntType(self.width))

    # Calls.

    def call(self, name: str, result: Value, *arguments: Value) -> Value:
        """Call an intrinsic or a function of the module, declared where it is not."""
        module = self.builder.module
        function = module.globals.get(name)
        if function is None:
            kind = ir.FunctionType(result, [argument.type for argument in arguments])
            function = ir.Function(module, kind, name)
        return self.builder.call(function, arguments)

    def apply(self, name: str, *vectors: Value) -> Value:
        """An LLVM intrinsic on vectors of one type, by its name without type."""
        kind = vectors[0].type
        suffix = {str(FLOAT): "f32", str(DOUBLE): "f64", str(INT): "i32", str(LONG): "i64"}[str(kind.element)]
        return self.call(f"llvm.{name}.v{self.width}{suffix}", kind, *vectors)

    def widen(self, values: Value) -> Value:
        """Floats as float64."""
        return self.builder.fpext(values, self.doubles)

    def narrow(self, values: Value) -> Value:
        """Float64 rounded to floats."""
        return self.builder.fptrunc(values, self.floats)

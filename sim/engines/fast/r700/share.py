"""The local data share: every lane writes its own dwords of its wavefront's, and reads any.

Source: R700-Family Instruction Set Architecture, p. 35; docs/r700.md for what it leaves open.
"""

from collections.abc import Sequence

from llvmlite import ir

from ctm.rtl.isa.limits import CHANNELS, WORD_BYTES
from ctm.rtl.isa.r700.fetch import Multiplex
from ctm.rtl.isa.r700.limits import LDS_BANKS, LDS_ROW
from ctm.sim.engines.fast.r700.masks import Masks
from ctm.sim.engines.fast.vector.lanes import BIT, BYTE, INT, LONG, Lanes, Value
from ctm.sim.golden.r700.instruction import ShareRead, ShareWrite


class Share:
    """Of each bank `dwords`: a dword's banks follow each other, and after all comes one word for dropped writes."""

    def __init__(self, lanes: Lanes, masks: Masks, dwords: int) -> None:
        self._lanes, self._masks, self._dwords = lanes, masks, dwords
        self._words = LDS_BANKS * dwords
        self._array = lanes.builder.alloca(INT, size=ir.Constant(INT, self._words + 1))

    def clear(self) -> None:
        """As at a program's start."""
        size = ir.Constant(LONG, WORD_BYTES * (self._words + 1))
        zeros = (ir.Constant(BYTE, 0), size, ir.Constant(BIT, 0))
        self._lanes.call("llvm.memset.p0.i64", ir.VoidType(), self._array, *zeros)

    def write(
        self, instruction: ShareWrite, burst_index: int, values: Sequence[Value | None], executing: Value
    ) -> None:
        """Store the words of register `burst_index` of the burst, but those that are None."""
        lanes = self._lanes
        for component, words in enumerate(values):
            if words is None:
                continue
            at = []
            for lane in range(lanes.width):
                bank, dword = lane % LDS_BANKS, lane // LDS_BANKS * instruction.stride + instruction.index
                dword += LDS_ROW * burst_index + component
                at.append(LDS_BANKS * dword + bank if dword < self._dwords else self._words)
            chosen = lanes.where(executing, lanes.integer_for_each(at), lanes.integer(self._words))
            for scalar, word in zip(lanes.scalars(chosen), lanes.scalars(words), strict=True):
                lanes.builder.store(word, self._pointer(scalar))

    def read(self, instruction: ShareRead, burst_index: int, source: Sequence[Value]) -> list[Value]:
        """The words that register `burst_index` of the burst gets; `source` holds the address."""
        lanes, builder = self._lanes, self._lanes.builder
        bank = builder.and_(source[instruction.bank], lanes.integer(LDS_BANKS - 1))
        dword = builder.add(source[instruction.dword], lanes.integer(instruction.offset))
        if instruction.broadcast:
            bank, dword = self._of_lowest(bank), self._of_lowest(dword)
        if instruction.mux is Multiplex.WORD_SELECT:
            return [self._gather(bank, dword, LDS_ROW * burst_index)] * CHANNELS
        row = builder.and_(dword, lanes.integer(-LDS_ROW))
        return [self._gather(bank, row, LDS_ROW * burst_index + component) for component in range(CHANNELS)]

    def _gather(self, bank: Value, dword: Value, offset: int) -> Value:
        """The words at `dword` and an offset, whose sum does not wrap; 0 where there is none."""
        lanes, builder = self._lanes, self._lanes.builder
        if self._dwords <= offset:
            return lanes.none
        exists = builder.icmp_unsigned("<", dword, lanes.integer(self._dwords - offset))
        at = builder.add(builder.mul(builder.add(dword, lanes.integer(offset)), lanes.integer(LDS_BANKS)), bank)
        at = lanes.choose(exists, at, lanes.none)
        result = ir.Constant(lanes.integers, ir.Undefined)
        for lane, scalar in enumerate(lanes.scalars(at)):
            result = lanes.put(result, builder.load(self._pointer(scalar), typ=INT), lane)
        return lanes.choose(exists, result, lanes.none)

    def _pointer(self, number: Value) -> Value:
        builder = self._lanes.builder
        return builder.gep(self._array, [builder.zext(number, LONG)], source_etype=INT)

    def _of_lowest(self, words: Value) -> Value:
        """The word of the lowest active lane in all lanes."""
        lanes = self._lanes
        lane = lanes.lowest(self._masks.active)
        return lanes.splat(lanes.builder.extract_element(words, lane))

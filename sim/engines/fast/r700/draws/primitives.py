"""What a draw's pixel program begins with, and the constants of its primitive: all lanes of a vector have the same."""

from llvmlite import ir

from ctm.rtl.isa.limits import CHANNELS
from ctm.sim.engines.fast.kernel import Kernel
from ctm.sim.engines.fast.parameters import Slot
from ctm.sim.engines.fast.vector.lanes import FLOAT, INT, LONG, POINTER, Value
from ctm.sim.golden.draw.setup import RECORD_ROWS
from ctm.sim.golden.r700.draws.primitives import PROVOKING_BANK, RECORD_BANK

_EDGES = 3
_VERTICES = 4
"""Of a shape: three, and the provoking one."""


class Primitives:
    """Reads them where the kernel's builder stands; `rows` are the parameters of a vertex."""

    def __init__(self, kernel: Kernel, rows: int) -> None:
        self._kernel, self._lanes, self._rows = kernel, kernel.lanes, rows
        self._edges, self._shapes, self._vertices, self._records, self._parameters = (
            kernel.parameter(slot, POINTER)
            for slot in (Slot.EDGES, Slot.SHAPES, Slot.VERTICES, Slot.RECORDS, Slot.PARAMETERS)
        )
        self._low, self._high = (kernel.parameter(slot, FLOAT) for slot in (Slot.DEPTH_LOW, Slot.DEPTH_HIGH))
        self._banks: dict[int, Value] = {}
        self._unchanging = kernel.module.add_metadata([])

    def begin(self) -> None:
        """Find where the constants of a vector's primitive are."""
        builder = self._lanes.builder
        shape = builder.zext(self._load(self._shapes, builder.zext(self._kernel.vector, LONG), INT), LONG)
        record = builder.mul(shape, ir.Constant(LONG, RECORD_ROWS * CHANNELS))
        self._banks[RECORD_BANK] = builder.gep(self._records, [record], source_etype=FLOAT)
        first = builder.mul(shape, ir.Constant(LONG, _VERTICES))
        for row, bank in enumerate((1, 2, 3, PROVOKING_BANK)):
            number = self._load(self._vertices, builder.add(first, ir.Constant(LONG, row)), INT)
            at = builder.mul(builder.zext(number, LONG), ir.Constant(LONG, self._rows * CHANNELS))
            self._banks[bank] = builder.gep(self._parameters, [at], source_etype=FLOAT)

    def edge(self, number: int) -> Value:
        """An edge value of each lane, floats: those of edges 1, 2 and 0."""
        lanes, builder = self._lanes, self._lanes.builder
        vector = builder.mul(builder.zext(self._kernel.vector, LONG), ir.Constant(LONG, _EDGES))
        first = builder.mul(builder.add(vector, ir.Constant(LONG, number)), ir.Constant(LONG, lanes.width))
        loaded = builder.load(builder.gep(self._edges, [first], source_etype=FLOAT), typ=lanes.floats)
        loaded.align = 4
        return loaded

    def read(self, bank: int, row: int, channel: int) -> Value:
        """A channel of a row of a bank in all lanes, words; 0 if there is no such row."""
        if row >= (RECORD_ROWS if bank == RECORD_BANK else self._rows):
            return self._lanes.none
        return self._lanes.splat(self._load(self._banks[bank], ir.Constant(LONG, CHANNELS * row + channel), INT))

    def clamped(self, depth: Value) -> Value:
        """Conditional values in the range of depth; a NaN is kept."""
        lanes = self._lanes
        low, high = lanes.splat(self._low), lanes.splat(self._high)
        below, above = lanes.compare("<", depth, low), lanes.compare(">", depth, high)
        return lanes.choose(below, low, lanes.choose(above, high, depth))

    def _load(self, pointer: Value, number: Value, kind: Value) -> Value:
        builder = self._lanes.builder
        loaded = builder.load(builder.gep(pointer, [number], source_etype=INT), typ=kind)
        # So that LLVM may read it before a loop.
        loaded.set_metadata("invariant.load", self._unchanging)
        return loaded

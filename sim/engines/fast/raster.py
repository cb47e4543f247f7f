"""The raster of draws as compiled code: shapes to strips, see `ctm.sim.golden.draw.strips`.

It continues where it stopped when its arrays were full, so that strips can be drawn while the next ones are found.
"""

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum, auto
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir

from ctm.rtl.isa.limits import QUAD
from ctm.sim.engines.fast.compiler import Code, code
from ctm.sim.engines.fast.host import Host
from ctm.sim.engines.fast.kernel import RUN
from ctm.sim.engines.fast.work import TEXT
from ctm.sim.golden.draw.setup import Shapes
from ctm.sim.golden.draw.strips import bounds_in
from ctm.sim.golden.pe.domain import Domain

_BIT, _BYTE, _INT, _LONG, _FLOAT, _POINTER = (
    ir.IntType(1), ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.FloatType(), ir.PointerType(),
)  # fmt: skip
_EDGES = 3
_ORDER = (1, 2, 0)
"""Edges in the order in which programs are given their values."""


class _Slot(IntEnum):
    """What the code is given: numbers and pointers of 64 bits."""

    COUNT = 0
    """Shapes."""
    BOUNDS = auto()
    """First and last column, first and last row of pixels, 64 bits each."""
    COEFFICIENTS = auto()
    """Of three edges: of x, of y, and the constant, 64 bits."""
    LEAST = auto()
    """The least value of each edge inside, 0 or 1, 64 bits."""
    LEFT = auto()
    BOTTOM = auto()
    """The domain's left even column and its bottom even row."""
    SHAPE = auto()
    I = auto()  # noqa: E741
    J = auto()
    """Where it goes on: the shape, and the strip in it; I is -1 at a shape's beginning."""
    CAPACITY = auto()
    FOUND = auto()
    """Strips for which there is space, and those that were found."""
    OUT_SHAPE = auto()
    OUT_I = auto()
    OUT_J = auto()
    OUT_COVERED = auto()
    OUT_EDGES = auto()
    """Point at what is found of each strip: shape and coordinates, 32 bits; a byte a lane; three floats a lane."""


_KEPT = (_Slot.SHAPE, _Slot.I, _Slot.J, _Slot.FOUND)
"""What is given and given back."""


@dataclass(frozen=True)
class Found:
    """Strips: shape, i and j of the first lane [n], covered [n, lanes], edge values 1, 2 and 0 [n, 3, lanes]."""

    shape: npt.NDArray[np.int32]
    i: npt.NDArray[np.int32]
    j: npt.NDArray[np.int32]
    covered: npt.NDArray[np.uint8]
    edges: npt.NDArray[np.float32]

    @staticmethod
    def empty(strips: int, lanes: int) -> "Found":
        """Arrays for so many."""
        shape, i, j = (np.empty(strips, np.int32) for _ in range(3))
        return Found(shape, i, j, np.empty((strips, lanes), np.uint8), np.empty((strips, _EDGES, lanes), np.float32))

    def select(self, numbers: npt.NDArray[np.signedinteger]) -> "Found":
        """A copy of some of them."""
        return Found(self.shape[numbers], self.i[numbers], self.j[numbers], self.covered[numbers], self.edges[numbers])

    def first(self, count: int) -> "Found":
        """The first so many of them, in the same memory."""
        return Found(self.shape[:count], self.i[:count], self.j[:count], self.covered[:count], self.edges[:count])


def raster(shapes: Shapes, domain: Domain, lanes: int, host: Host, allocate: Callable[[], Found]) -> Iterator[Found]:
    """The strips of all shapes in the domain, as many together as fit in what `allocate` gives each time."""
    if domain.is_empty or not shapes.count:
        return
    made = _code(lanes, host)
    run = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(made.address)
    arrays = {
        _Slot.BOUNDS: bounds_in(shapes, domain),
        _Slot.COEFFICIENTS: shapes.edges.reshape(shapes.count, -1),
        _Slot.LEAST: ~shapes.ties,
    }
    kept = {slot: np.ascontiguousarray(array, np.int64) for slot, array in arrays.items()}
    table = np.zeros(len(_Slot), np.int64)
    for slot, array in kept.items():
        table[slot] = array.ctypes.data
    table[_Slot.COUNT], table[_Slot.I] = shapes.count, -1
    table[_Slot.LEFT], table[_Slot.BOTTOM] = domain.i0 & ~1, domain.j0 & ~1
    while table[_Slot.SHAPE] < shapes.count:
        found = allocate()
        table[_Slot.CAPACITY], table[_Slot.FOUND] = found.shape.size, 0
        outputs = (found.shape, found.i, found.j, found.covered, found.edges)
        table[_Slot.OUT_SHAPE : _Slot.OUT_EDGES + 1] = [array.ctypes.data for array in outputs]
        run(table.ctypes.data)
        if table[_Slot.FOUND]:
            yield found.first(int(table[_Slot.FOUND]))


@cache
def _code(lanes: int, host: Host) -> Code:
    return code(lambda: _Raster(lanes).text(), ("raster", lanes), host)


class _Raster:
    """The function: a loop over shapes, rows and strips, whose lanes are computed at once."""

    def __init__(self, lanes: int) -> None:
        self._lanes = lanes
        self._module = ir.Module("raster")
        function = ir.Function(self._module, ir.FunctionType(ir.VoidType(), [_POINTER]), RUN)
        self._function, self._table = function, function.args[0]
        self._builder = ir.IRBuilder(function.append_basic_block("entry"))
        self._longs = ir.VectorType(_LONG, lanes)
        self._shape, self._i, self._j, self._found = (self._builder.alloca(_LONG) for _ in range(4))
        for pointer, slot in (
            (self._shape, _Slot.SHAPE),
            (self._i, _Slot.I),
            (self._j, _Slot.J),
            (self._found, _Slot.FOUND),
        ):
            self._builder.store(self._given(slot), pointer)
        self._build()

    def text(self) -> str:
        """The module."""
        return f"{self._module}{TEXT}"

    def _slot(self, slot: _Slot) -> Any:
        return self._builder.gep(self._table, [ir.Constant(_INT, int(slot))], source_etype=_LONG)

    def _given(self, slot: _Slot, kind: Any = _LONG) -> Any:
        return self._builder.load(self._slot(slot), typ=kind)

    def _at(self, slot: _Slot, number: Any, kind: Any) -> Any:
        """Where element `number` of what a slot points at is."""
        return self._builder.gep(self._given(slot, _POINTER), [number], source_etype=kind)

    def _long(self, value: int) -> Any:
        return ir.Constant(_LONG, value)

    def _each(self, values: list[int]) -> Any:
        return ir.Constant(self._longs, values)

    def _splat(self, scalar: Any) -> Any:
        first = self._builder.insert_element(ir.Constant(self._longs, ir.Undefined), scalar, ir.Constant(_INT, 0))
        order = ir.Constant(ir.VectorType(_INT, self._lanes), [0] * self._lanes)
        return self._builder.shuffle_vector(first, first, order)

    def _block(self, name: str) -> Any:
        return self._function.append_basic_block(name)

    def _build(self) -> None:
        builder = self._builder
        names = ("shapes", "shape", "rows", "strips", "try", "next", "row", "after", "full", "end")
        shapes, shape, rows, strips, attempt, following, row, after, full, end = map(self._block, names)
        width = self._long(2 * self._lanes // QUAD)
        builder.branch(shapes)
        builder.position_at_end(shapes)
        number = builder.load(self._shape, typ=_LONG)
        builder.cbranch(builder.icmp_signed("<", number, self._given(_Slot.COUNT)), shape, end)
        builder.position_at_end(shape)
        bounds = [
            builder.load(self._at(_Slot.BOUNDS, self._element(number, 4, index), _LONG), typ=_LONG)
            for index in range(4)
        ]
        offset = builder.sub(bounds[0], self._given(_Slot.LEFT))
        left = builder.sub(bounds[0], builder.urem(offset, width))
        bottom = builder.sub(bounds[2], builder.urem(builder.sub(bounds[2], self._given(_Slot.BOTTOM)), self._long(2)))
        begins = builder.icmp_signed("<", builder.load(self._i, typ=_LONG), self._long(0))
        for pointer, first in ((self._i, left), (self._j, bottom)):
            builder.store(builder.select(begins, first, builder.load(pointer, typ=_LONG)), pointer)
        edges = [self._edge(number, edge) for edge in range(_EDGES)]
        builder.branch(rows)
        builder.position_at_end(rows)
        builder.cbranch(builder.icmp_signed("<=", builder.load(self._j, typ=_LONG), bounds[3]), strips, after)
        builder.position_at_end(strips)
        builder.cbranch(builder.icmp_signed("<=", builder.load(self._i, typ=_LONG), bounds[1]), attempt, row)
        builder.position_at_end(attempt)
        self._try(number, bounds, edges, full, following)
        builder.position_at_end(following)
        builder.store(builder.add(builder.load(self._i, typ=_LONG), width), self._i)
        builder.branch(strips)
        builder.position_at_end(row)
        builder.store(left, self._i)
        builder.store(builder.add(builder.load(self._j, typ=_LONG), self._long(2)), self._j)
        builder.branch(rows)
        builder.position_at_end(after)
        builder.store(self._long(-1), self._i)
        builder.store(builder.add(number, self._long(1)), self._shape)
        builder.branch(shapes)
        builder.position_at_end(full)
        builder.branch(end)
        builder.position_at_end(end)
        for pointer, slot in (
            (self._shape, _Slot.SHAPE),
            (self._i, _Slot.I),
            (self._j, _Slot.J),
            (self._found, _Slot.FOUND),
        ):
            builder.store(builder.load(pointer, typ=_LONG), self._slot(slot))
        builder.ret_void()

    def _element(self, number: Any, size: int, index: int) -> Any:
        return self._builder.add(self._builder.mul(number, self._long(size)), self._long(index))

    def _edge(self, number: Any, edge: int) -> tuple[Any, Any, Any, Any, Any]:
        """Of an edge its coefficients, what each lane adds to the value at the first one, and its least value."""
        builder, lane = self._builder, range(self._lanes)
        x, y, constant = (
            builder.load(self._at(_Slot.COEFFICIENTS, self._element(number, 9, 3 * edge + index), _LONG), typ=_LONG)
            for index in range(3)
        )
        right, up = ([2 * (each // QUAD) + (each & 1) for each in lane], [each >> 1 & 1 for each in lane])
        added = builder.add(builder.mul(self._splat(x), self._each(right)), builder.mul(self._splat(y), self._each(up)))
        least = builder.load(self._at(_Slot.LEAST, self._element(number, _EDGES, edge), _LONG), typ=_LONG)
        return x, y, constant, added, self._splat(least)

    def _try(self, number: Any, bounds: list[Any], edges: list[Any], full: Any, following: Any) -> None:
        """Look whether the strip has a covered pixel, and keep it if it has."""
        builder, lane = self._builder, range(self._lanes)
        i, j = builder.load(self._i, typ=_LONG), builder.load(self._j, typ=_LONG)
        x = builder.add(self._splat(i), self._each([2 * (each // QUAD) + (each & 1) for each in lane]))
        y = builder.add(self._splat(j), self._each([each >> 1 & 1 for each in lane]))
        covered = builder.icmp_signed(">=", x, self._splat(bounds[0]))
        for comparison, values, bound in (("<=", x, bounds[1]), (">=", y, bounds[2]), ("<=", y, bounds[3])):
            covered = builder.and_(covered, builder.icmp_signed(comparison, values, self._splat(bound)))
        found = []
        for of_x, of_y, constant, added, least in edges:
            first = builder.add(builder.add(builder.mul(of_x, i), builder.mul(of_y, j)), constant)
            found.append(builder.add(self._splat(first), added))
            covered = builder.and_(covered, builder.icmp_signed(">=", found[-1], least))
        packed = builder.bitcast(covered, ir.IntType(self._lanes))
        some, keep = self._block("some"), self._block("keep")
        builder.cbranch(builder.icmp_unsigned("!=", packed, ir.Constant(packed.type, 0)), some, following)
        builder.position_at_end(some)
        count = builder.load(self._found, typ=_LONG)
        builder.cbranch(builder.icmp_signed("<", count, self._given(_Slot.CAPACITY)), keep, full)
        builder.position_at_end(keep)
        for slot, value in ((_Slot.OUT_SHAPE, number), (_Slot.OUT_I, i), (_Slot.OUT_J, j)):
            builder.store(builder.trunc(value, _INT), self._at(slot, count, _INT))
        lanes = builder.mul(count, self._long(self._lanes))
        stored = builder.store(
            builder.zext(covered, ir.VectorType(_BYTE, self._lanes)), self._at(_Slot.OUT_COVERED, lanes, _BYTE)
        )
        stored.align = 1
        for index, edge in enumerate(_ORDER):
            at = builder.add(builder.mul(lanes, self._long(_EDGES)), self._long(index * self._lanes))
            floats = builder.sitofp(found[edge], ir.VectorType(_FLOAT, self._lanes))
            stored = builder.store(floats, self._at(_Slot.OUT_EDGES, at, _FLOAT))
            stored.align = 4
        builder.store(builder.add(count, self._long(1)), self._found)
        builder.branch(following)

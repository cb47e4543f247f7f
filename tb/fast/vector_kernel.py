"""Functions on vectors, compiled into a kernel of their own and applied to arrays of words."""

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from ctm.sim.engines.fast.compiler import code
from ctm.sim.engines.fast.host import Host
from ctm.sim.engines.fast.kernel import Frame, Kernel
from ctm.sim.engines.fast.parameters import SLOTS, Slot, set_buffer
from ctm.sim.engines.fast.vector.address import Form
from ctm.sim.engines.fast.vector.lanes import INT, LONG, POINTER, Value
from ctm.sim.engines.fast.vector.tables import table as transcendental_table
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.memory import Memory
from ctm.tb.lib.words import Words

Build = Callable[[Kernel, Sequence[Value]], Sequence[Value]]
"""Appends instructions on operands, floats, and gives the results, floats or words."""
_LAST = (1 << 30) - 1


def apply(
    host: Host,
    build: Build,
    *operands: Words,
    buffers: Mapping[int, Buffer] | None = None,
    memory: Memory | None = None,
) -> list[Words]:
    """The results of what `build` appends, each as long as the operands. Lanes beyond them repeat the last operand."""
    buffers, width = buffers or {}, host.width
    vectors = -(-operands[0].size // width)
    given = np.stack([np.pad(each, (0, vectors * width - each.size), "edge") for each in operands])
    given = np.ascontiguousarray(given.reshape(len(operands), vectors, width).swapaxes(0, 1))
    text, count = _text(host, build, len(operands), buffers)
    compiled = code(lambda: text, ("test", text), host)
    found = np.zeros((vectors, count, width), np.uint32)
    # The first pixel of a vector is in an even row, two pixels in each column pair.
    origins = np.stack([np.arange(vectors) * (width // 2), np.zeros(vectors)]).astype(np.int32)
    coefficients = transcendental_table()
    table = np.zeros(SLOTS, np.uint64)
    table[[Slot.I1, Slot.J1]] = _LAST
    table[Slot.TABLE], table[Slot.VECTORS], table[Slot.LIMIT] = coefficients.ctypes.data, vectors, _LAST
    taken = np.zeros(1, np.uint32)
    table[Slot.TAKEN], table[Slot.SHARE] = taken.ctypes.data, vectors
    table[Slot.CONSTANTS], table[Slot.INTEGERS] = given.ctypes.data, found.ctypes.data
    table[Slot.ORIGIN_I], table[Slot.ORIGIN_J] = (row.ctypes.data for row in origins)
    for number, buffer in buffers.items():
        assert memory is not None
        set_buffer(table, number, buffer, memory)
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(compiled.address)(table.ctypes.data)
    return [np.ascontiguousarray(found[:, result]).ravel()[: operands[0].size] for result in range(count)]


def _text(host: Host, build: Build, operands: int, buffers: Mapping[int, Buffer]) -> tuple[str, int]:
    """The module, and the number of results."""
    forms = {number: Form.of(buffer) for number, buffer in buffers.items()}
    frame = Frame(
        width=host.width, wavefront_lanes=host.width, rows=True, fused=host.fused, register=host.register,
        is_tested=False, buffers=forms,
    )  # fmt: skip
    kernel = Kernel(frame)
    lanes, builder = kernel.lanes, kernel.lanes.builder
    first = builder.mul(lanes.pick(kernel.x, 0), ir.Constant(INT, 2))

    def element(slot: Slot, count: int, number: int) -> Any:
        at = builder.mul(first, ir.Constant(INT, count))
        at = builder.add(at, ir.Constant(INT, number * host.width))
        return builder.gep(kernel.parameter(slot, POINTER), [builder.zext(at, LONG)], source_etype=INT)

    values = []
    for number in range(operands):
        loaded = builder.load(element(Slot.CONSTANTS, operands, number), typ=lanes.floats)
        loaded.align = 4
        values.append(loaded)
    results = build(kernel, values)
    for number, result in enumerate(results):
        word = result if result.type == lanes.integers else lanes.words(result)
        builder.store(word, element(Slot.INTEGERS, len(results), number)).align = 4
    builder.branch(kernel.finish)
    builder.position_at_end(kernel.finish)
    kernel.end()
    return kernel.text(), len(results)

"""Elements of vertex buffers in every format are those of the golden model."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import pytest
from llvmlite import ir

from ctm.rtl.isa.limits import CHANNELS
from ctm.sim.engines.fast.host import Host
from ctm.sim.engines.fast.kernel import Kernel
from ctm.sim.engines.fast.r700.draws.elements import components
from ctm.sim.engines.fast.vector.lanes import BYTE, INT, POINTER, Value
from ctm.sim.golden.r700.draws import formats
from ctm.sim.golden.r700.instruction import Numeric, VertexFormat
from ctm.tb.fast.hosts import every_host
from ctm.tb.fast.vector_kernel import apply
from ctm.tb.lib.operands import mixed_words
from ctm.tb.lib.words import Words, check

_COUNT = 4_000
_EDGES = (0, 1, 0x7FFF_FFFF, 0x8000_0000, 0x8000_0001, 0xFFFF_FFFF, 0x0100_0001, 0x0180_0001, 0x7C01_7E00, 0xFC00_03FF)
"""Ends of the ranges, neighbours of halves of an ulp, and both kinds of NaN of a half."""
FORMATS = [
    VertexFormat(channels=channels, bits=bits, numeric=numeric, signed=signed)
    for channels in (1, 3)
    for bits in (8, 16, 32)
    for numeric in Numeric
    for signed in (False, True)
    if not (numeric is Numeric.FLOAT and (bits == 8 or signed))
]


def _operands() -> list[Words]:
    """Four words of memory for each element, and whether it is in the buffer."""
    generator = np.random.default_rng(11)
    words = [mixed_words(_COUNT, seed) for seed in range(CHANNELS)]
    words[0][: len(_EDGES)] = _EDGES
    return [*words, generator.integers(0, 4, _COUNT).astype(np.uint32)]


def _fetch(element: VertexFormat, kernel: Kernel, values: Sequence[Value]) -> list[Value]:
    lanes, builder = kernel.lanes, kernel.lanes.builder
    # An empty barrier: llvmlite knows what an alloca points at, and here it is read as anything.
    untyped, pointers = ir.InlineAsm(ir.FunctionType(POINTER, [POINTER]), "", "=r,0"), []
    columns = [lanes.scalars(lanes.words(value)) for value in values]
    for lane in range(lanes.width):
        with builder.goto_entry_block():
            array = builder.alloca(ir.ArrayType(INT, CHANNELS + 1))
        # One byte further: nothing says that elements are aligned.
        pointer = builder.gep(builder.call(untyped, [array]), [ir.Constant(INT, 1)], source_etype=BYTE)
        for channel in range(CHANNELS):
            at = builder.gep(pointer, [ir.Constant(INT, channel)], source_etype=INT)
            builder.store(columns[channel][lane], at).align = 1
        pointers.append(pointer)
    inside = builder.icmp_unsigned("!=", lanes.words(values[CHANNELS]), lanes.none)
    return components(lanes, element, pointers, inside)


@every_host
@pytest.mark.parametrize("numeric", Numeric)
def test_formats(host: Host, numeric: Numeric) -> None:
    operands = _operands()
    raw, inside = np.stack(operands[:CHANNELS], axis=1), operands[CHANNELS] != 0
    chosen = [each for each in FORMATS if each.numeric is numeric]

    def build(kernel: Kernel, values: Sequence[Value]) -> list[Value]:
        return [words for element in chosen for words in _fetch(element, kernel, values)]

    found = apply(host, build, *operands)
    for number, element in enumerate(chosen):
        memory = np.ascontiguousarray(raw.view(np.uint8)[:, : element.element_bytes])
        expected = formats.components(element, memory, inside).view(np.uint32)
        for channel in range(CHANNELS):
            check(found[CHANNELS * number + channel], expected[channel], *operands)


def test_every_normalised_number_of_32_bits_near_a_tie() -> None:
    """Quotients are rounded once: halfway numbers of 24 bits are where a second rounding would show."""
    generator = np.random.default_rng(5)
    ties = (generator.integers(1 << 23, 1 << 24, 3_000) << 8) + 0x80
    n = np.concatenate([ties + step for step in (-1, 0, 1)]).astype(np.uint32)
    zero = np.zeros_like(n)
    for signed in (False, True):
        element = VertexFormat(channels=1, bits=32, numeric=Numeric.NORMALISED, signed=signed)
        one = np.ones_like(n)
        found = apply(Host.this(), partial(_fetch, element), n, zero, zero, zero, one)
        values = [int(each) - (1 << 32) * (signed and each >> 31) for each in n.tolist()]
        highest = (1 << 32 - signed) - 1
        expected = [_nearest(max(value, -highest), highest) for value in values]
        check(found[0], np.array(expected, np.uint32), n)


def _nearest(value: int, highest: int) -> int:
    """The bits of the float32 nearest to a quotient, by whole numbers alone."""
    sign, value = (0x8000_0000, -value) if value < 0 else (0, value)
    exponent = 0
    while (value << exponent) < highest * (1 << 23):
        exponent += 1
    while (value << exponent) >= highest * (1 << 24):
        exponent -= 1
    quotient, remainder = divmod(value << exponent, highest)
    quotient += 2 * remainder > highest or (2 * remainder == highest and quotient & 1)
    if quotient == 1 << 24:
        quotient, exponent = quotient >> 1, exponent - 1
    return sign | (127 + 23 - exponent) << 23 | (quotient & 0x7F_FFFF)

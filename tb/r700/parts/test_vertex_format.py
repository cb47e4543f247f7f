"""Channels of vertex buffers as words, against the golden model: all numbers of 8 and 16 bits, many of 32."""

import numpy as np
import pytest

from ctm.rtl.isa.r700.fetch import VERTEX_FORMATS
from ctm.rtl.r700.fetch.vertex_format import SIZES, VERTEX_FORMAT, VertexConversion
from ctm.rtl.r700.fetch.vertex_format import Numeric as Code
from ctm.sim.compiled import CompiledUnit
from ctm.sim.golden.r700.draws.formats import components
from ctm.sim.golden.r700.instruction import Numeric, VertexFormat
from ctm.tb.lib.compare import check

FORMATS = [
    (bits, numeric, signed)
    for bits in SIZES
    for numeric in Numeric
    for signed in (False, True)
    if not (numeric is Numeric.FLOAT and (bits == 8 or signed))
]


@pytest.fixture(scope="module")
def unit() -> CompiledUnit:
    return CompiledUnit(VertexConversion())


def channels(bits: int) -> np.ndarray:
    """Numbers of a channel, as words."""
    if bits < 32:
        return np.arange(1 << bits, dtype=np.uint32)
    powers = 1 << np.arange(32, dtype=np.uint64)
    near = np.concatenate([powers - 1, powers, powers + 1, (1 << 32) - powers])
    return np.concatenate([near, np.random.default_rng(bits).integers(0, 1 << 32, 20_000)]).astype(np.uint32)


@pytest.mark.parametrize(("bits", "numeric", "signed"), FORMATS)
def test_a_channel_is_the_golden_models(unit: CompiledUnit, bits: int, numeric: Numeric, signed: bool) -> None:
    numbers = channels(bits)
    element = VertexFormat(channels=1, bits=bits, numeric=numeric, signed=signed)
    size = bits // 8
    raw = numbers.view(np.uint8).reshape(-1, 4)[:, :size]
    wanted = components(element, raw, np.ones(numbers.size, bool))[0].view(np.uint32)
    generator = np.random.default_rng(bits)
    byte = size * generator.integers(0, 4 // size, numbers.size)
    around = generator.integers(0, 1 << 32, numbers.size, dtype=np.uint64)
    mask = np.uint64((1 << bits) - 1) << (8 * byte).astype(np.uint64)
    words = around & ~mask | numbers.astype(np.uint64) << (8 * byte).astype(np.uint64)
    code = VERTEX_FORMAT.const({"size": SIZES.index(bits), "numeric": Code[numeric.name], "signed": int(signed)})
    operands = {
        "raw": words.astype(np.uint32),
        "byte": byte.astype(np.uint8),
        "element": np.full(numbers.size, code.as_bits(), np.uint8),
    }
    check(unit(**operands), {"word": wanted}, operands)


def test_every_data_format_is_one_of_these() -> None:
    assert {bits for _, bits, _ in VERTEX_FORMATS.values()} == set(SIZES)

"""Conditional unit: all tests, both formats, what is stored, what lies outside."""

import numpy as np
import pytest

from ctm.rtl.isa.conditional import ConditionalTest
from ctm.rtl.isa.formats import DataFormat
from ctm.sim.golden.co.unit import ConditionalUnit
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.memory import Memory

T = ConditionalTest
NAN, INFINITY, DENORMAL = float("nan"), float("inf"), 1e-40

# (client's value, buffer's value): the tests that are true of them.
ORDERED = {
    (1.0, 2.0): {T.LESS, T.LESS_EQUAL, T.NOT_EQUAL},
    (2.0, 1.0): {T.GREATER, T.GREATER_EQUAL, T.NOT_EQUAL},
    (1.5, 1.5): {T.EQUAL, T.LESS_EQUAL, T.GREATER_EQUAL},
    (0.0, -0.0): {T.EQUAL, T.LESS_EQUAL, T.GREATER_EQUAL},
    (DENORMAL, 0.0): {T.EQUAL, T.LESS_EQUAL, T.GREATER_EQUAL},
    (-DENORMAL, DENORMAL): {T.EQUAL, T.LESS_EQUAL, T.GREATER_EQUAL},
    (NAN, 1.0): {T.NOT_EQUAL},
    (1.0, NAN): {T.NOT_EQUAL},
    (NAN, NAN): {T.NOT_EQUAL},
    (-INFINITY, INFINITY): {T.LESS, T.LESS_EQUAL, T.NOT_EQUAL},
    (INFINITY, INFINITY): {T.EQUAL, T.LESS_EQUAL, T.GREATER_EQUAL},
}


def decide(unit: ConditionalUnit, memory: Memory, x: int, y: int, value: float) -> tuple[bool, bool]:
    """Decide one pair, and store what passes."""
    arrays = np.array([x]), np.array([y]), np.array([value], np.float32)
    passed, stored = unit.decide(memory, *arrays)
    if stored[0]:
        unit.store(memory, *arrays)
    return bool(passed[0]), bool(stored[0])


@pytest.mark.parametrize("test", T)
@pytest.mark.parametrize("pair", ORDERED)
def test_floats_compare_with_denormals_as_zero_and_unordered_nans(test: T, pair: tuple[float, float]) -> None:
    memory = Memory()
    memory.view(np.float32)[0] = pair[1]
    unit = ConditionalUnit(buffer=Buffer(pitch=8, height=1, format=DataFormat.FLOAT32_1), test=test)
    expected = test is T.ALWAYS or test in ORDERED[pair]
    assert decide(unit, memory, 0, 0, pair[0]) == (expected, False)


@pytest.mark.parametrize("test", T)
@pytest.mark.parametrize(
    ("value", "stored", "true"),
    [
        # 0.5 becomes 32768: the integers are compared, not what they stand for.
        (0.5, 32768, {T.EQUAL, T.LESS_EQUAL, T.GREATER_EQUAL}),
        (0.5, 32769, {T.LESS, T.LESS_EQUAL, T.NOT_EQUAL}),
        (NAN, 0, {T.EQUAL, T.LESS_EQUAL, T.GREATER_EQUAL}),
        (2.0, 65534, {T.GREATER, T.GREATER_EQUAL, T.NOT_EQUAL}),
    ],
)
def test_uint16_compares_what_a_write_would_store(test: T, value: float, stored: int, true: set[T]) -> None:
    memory = Memory()
    memory.view(np.uint16)[3] = stored
    unit = ConditionalUnit(buffer=Buffer(pitch=16, height=1, format=DataFormat.UINT16_1), test=test)
    assert decide(unit, memory, 3, 0, value)[0] == (test is T.ALWAYS or test in true)


@pytest.mark.parametrize("enabled", [False, True])
@pytest.mark.parametrize("test", T)
def test_what_passes_is_stored_if_the_mask_allows(test: T, enabled: bool) -> None:
    memory = Memory()
    memory.view(np.float32)[:4] = 2.0
    buffer = Buffer(pitch=8, height=1, format=DataFormat.FLOAT32_1)
    unit = ConditionalUnit(buffer=buffer, test=test, write_enabled=enabled)
    passes = test in (T.LESS, T.LESS_EQUAL, T.NOT_EQUAL, T.ALWAYS)
    assert decide(unit, memory, 1, 0, 1.0) == (passes, passes and enabled)
    expected = 1.0 if passes and enabled else 2.0
    assert list(memory.view(np.float32)[:4]) == [2.0, expected, 2.0, 2.0]


def test_float_bits_are_stored_unchanged() -> None:
    memory = Memory()
    unit = ConditionalUnit(buffer=Buffer(pitch=8, height=1, format=DataFormat.FLOAT32_1), write_enabled=True)
    value = np.array([0xFF80_0001, 0x0000_0001], np.uint32).view(np.float32)
    unit.store(memory, np.array([0, 1]), np.array([0, 0]), value)
    assert (memory.word(0), memory.word(4)) == (0xFF80_0001, 1)


@pytest.mark.parametrize(("x", "y"), [(8, 0), (0, 2), (4095, 4095)])
def test_outside_the_buffer_a_test_that_touches_it_fails_and_nothing_is_stored(x: int, y: int) -> None:
    buffer = Buffer(pitch=8, height=2, format=DataFormat.FLOAT32_1)
    for test in T:
        for enabled in (False, True):
            unit = ConditionalUnit(buffer=buffer, test=test, write_enabled=enabled)
            untouched = test is T.ALWAYS and not enabled
            memory = Memory()
            assert decide(unit, memory, x, y, 1.0) == (untouched, False)


def test_the_format_matters_only_where_the_buffer_is_touched() -> None:
    for data_format in DataFormat:
        unit = ConditionalUnit(buffer=Buffer(pitch=8, format=data_format))
        fits = data_format in (DataFormat.FLOAT32_1, DataFormat.UINT16_1)
        for test in T:
            unit.test, unit.write_enabled = test, False
            assert unit.format_is_legal == (fits or test in (T.NEVER, T.ALWAYS))
            unit.write_enabled = True
            assert unit.format_is_legal == (fits or test is T.NEVER)

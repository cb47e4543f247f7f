"""Compiled components do what their description says, on whole arrays."""

import resource
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from amaranth.hdl import DomainError
from numpy.typing import NDArray

from ctm.sim.compiled import CompiledUnit, unit
from ctm.tb.compiled.components import TABLE, Adder, Counter, Function, Mixed, OtherDomain, PartlyConstant, TableLookup

RNG = np.random.default_rng(20060)


def words(count: int, bits: int) -> NDArray[np.uint64]:
    return RNG.integers(0, 1 << bits, count, np.uint64)


def as_words(numbers: list[int], count: int) -> NDArray[np.uint32]:
    return np.array([[number >> 32 * word & 0xFFFF_FFFF for word in range(count)] for number in numbers], np.uint32)


def as_numbers(array: NDArray[np.uint32]) -> list[int]:
    return [sum(int(word) << 32 * position for position, word in enumerate(row)) for row in array]


@pytest.mark.parametrize("width", [1, 8, 31, 63])
def test_results_are_those_of_numpy_for_every_type_of_port(width: int) -> None:
    adder = CompiledUnit(Adder(width, 1))
    left, right = words(1000, width), words(1000, width)
    total = adder(left=left, right=right)["total"]
    assert total.dtype == f"uint{next(size for size in (8, 16, 32, 64) if width + 1 <= size)}"
    np.testing.assert_array_equal(total, left + right)


@pytest.mark.parametrize("width", [64, 96, 200])
def test_wide_ports_are_words_the_lowest_first(width: int) -> None:
    adder = CompiledUnit(Adder(width, 2))
    length = -(-width // 32)
    lefts, rights = ([int.from_bytes(RNG.bytes(26), "little") % (1 << width) for _ in range(50)] for _ in range(2))
    left, right = (np.array(x, np.uint64) if width == 64 else as_words(x, length) for x in (lefts, rights))
    total = adder(left=left, right=right)["total"]
    assert total.dtype == np.uint32 and total.shape == (50, -(-(width + 1) // 32))
    assert as_numbers(total) == [left + right for left, right in zip(lefts, rights, strict=True)]


@pytest.mark.parametrize("latency", [0, 1, 5])
@pytest.mark.parametrize("block", [1, 2, 7, 1 << 16])
def test_results_stand_beside_their_operands(latency: int, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unit, "_BLOCK", block)
    adder = CompiledUnit(Adder(8, latency))
    for count in range(20):
        left, right = words(count, 8), words(count, 8)
        np.testing.assert_array_equal(adder(left=left, right=right)["total"], left + right)


def test_a_port_is_its_bits_whatever_its_name_and_shape() -> None:
    mixed = CompiledUnit(Mixed())
    assert mixed.inputs == {"function": 2, "int": 12, "new": 12, "request__payload": 70}
    assert mixed.outputs == {"class_": 12, "less": 1, "request__ready": 1}
    left, right, payload = words(500, 12), words(500, 12), np.zeros((500, 3), np.uint32)
    payload[::3, 2] = 1 << 5
    for function, operation in ((Function.AND, np.bitwise_and), (Function.OR, np.bitwise_or),
                                (Function.XOR, np.bitwise_xor)):  # fmt: skip
        found = mixed(function=function.value, int=left, new=right, request__payload=payload)
        np.testing.assert_array_equal(found["class_"], operation(left, right))
    high_left, high_right = (((side >> 5).astype(np.int64) ^ 0x40) - 0x40 for side in (left, right))
    np.testing.assert_array_equal(found["less"], high_left < high_right)
    np.testing.assert_array_equal(found["request__ready"], np.arange(500) % 3 == 0)


def test_bits_that_are_constant_have_their_value() -> None:
    value = np.arange(16)
    found = CompiledUnit(PartlyConstant())(value=value)["result"]
    np.testing.assert_array_equal(found, 0x81 | np.where(value & 1, value << 1, 0))


@pytest.mark.slow
def test_a_memory_starts_with_its_contents() -> None:
    index = np.arange(4096)[::-1]
    np.testing.assert_array_equal(CompiledUnit(TableLookup())(index=index)["entry"], np.array(TABLE)[index])


def test_each_call_starts_after_a_reset() -> None:
    counter = CompiledUnit(Counter())
    up = np.array([True, False, True, True])
    for _ in range(3):
        np.testing.assert_array_equal(counter(up=up, wide=0)["count"], [1, 1, 2, 3])


def test_an_integer_stands_for_all_operand_sets() -> None:
    adder, counter = CompiledUnit(Adder(32, 1)), CompiledUnit(Counter())
    np.testing.assert_array_equal(adder(left=[1, 2, 3], right=7)["total"], [8, 9, 10])
    np.testing.assert_array_equal(adder(left=1, right=np.uint64(2))["total"], [3])
    assert as_numbers(counter(up=[1, 0], wide=(1 << 129) - 1)["total"]) == [(1 << 129) + 2, (1 << 129) - 1]


def test_float32_counts_as_its_bits() -> None:
    found = CompiledUnit(Adder(32, 1))(left=np.array([1.0, -0.0], np.float32), right=np.float32(0))["total"]
    np.testing.assert_array_equal(found, [0x3F80_0000, 0x8000_0000])


def test_arrays_need_not_be_contiguous_nor_of_the_ports_type() -> None:
    adder = CompiledUnit(Adder(32, 1))
    left, right = words(4000, 31).astype(np.int64)[::-4], words(2000, 32).astype(">u4")[::2]
    np.testing.assert_array_equal(adder(left=left, right=right)["total"], left + right)


@pytest.mark.parametrize(
    ("inputs", "error", "message"),
    [
        ({"left": 1}, TypeError, "right missing; the inputs are left, right"),
        ({"left": 1, "right": 1, "up": 1}, TypeError, "no input up; the inputs are left, right"),
        ({"left": [1, 2], "right": [1]}, ValueError, "inputs of different lengths: left 2, right 1"),
        ({"left": [[1]], "right": 1}, ValueError, r"left \(8 bits\) must have the shape \[n\], not \[1, 1\]"),
        ({"left": [1, 256, 2], "right": 1}, ValueError, "left: 0x100 at index 1 does not fit in 8 bits"),
        ({"left": [1, 2, -1], "right": 1}, ValueError, "left: -0x1 at index 2 does not fit in 8 bits"),
        ({"left": 1, "right": 1 << 80}, ValueError, "right: 0x100000000000000000000 does not fit in 8 bits"),
        ({"left": 1, "right": -1}, ValueError, "right: -0x1 does not fit in 8 bits"),
        ({"left": 1, "right": 0.5}, TypeError, r"right \(8 bits\) must be an array or an integer, not 0.5"),
        ({"left": 1, "right": [0.5]}, TypeError, r"right \(8 bits\) must be integers, not float64"),
        ({"left": 1, "right": np.zeros(2, np.float32)}, TypeError, r"right \(8 bits\) must be integers, not float32"),
        ({"left": 1, "right": "x"}, TypeError, "must be an array or an integer, not 'x'"),
    ],
)
def test_unusable_inputs_are_named(inputs: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        CompiledUnit(Adder(8, 1))(**inputs)


def test_unusable_wide_inputs_are_named() -> None:
    counter = CompiledUnit(Counter())
    with pytest.raises(ValueError, match=r"wide \(129 bits\) must have the shape \[n, 5\], not \[3, 4\]"):
        counter(up=0, wide=np.zeros((3, 4), np.uint32))
    with pytest.raises(ValueError, match="wide: 0x2 at index 1 does not fit in 129 bits"):
        counter(up=0, wide=[[0, 0, 0, 0, 1], [1, 0, 0, 0, 2]])
    with pytest.raises(ValueError, match="wide: 0x100000000 at index 0 does not fit in 129 bits"):
        counter(up=0, wide=[[0, 1 << 32, 0, 0, 1]])


def test_a_component_must_state_its_latency_and_have_one_clock() -> None:
    adder = Adder(8, 1)
    CompiledUnit(adder)
    del adder.latency
    with pytest.raises(ValueError, match="Adder.latency must be a number of cycles, not None"):
        CompiledUnit(adder)
    with pytest.raises(DomainError, match="pixel"):
        CompiledUnit(OtherDomain())


@pytest.mark.slow
def test_units_do_not_disturb_each_other() -> None:
    adder, wider, table = CompiledUnit(Adder(8, 1)), CompiledUnit(Adder(16, 3)), CompiledUnit(TableLookup())
    left, right = words(200_000, 8), words(200_000, 8)

    def once(_: int) -> bool:
        return (
            bool((adder(left=left, right=right)["total"] == left + right).all())
            and bool((wider(left=left << 8, right=right << 8)["total"] == (left + right) << 8).all())
            and bool((table(index=left)["entry"] == np.array(TABLE)[left]).all())
        )

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(once, range(8)))


def test_a_call_needs_no_memory_but_its_results_and_a_block() -> None:
    adder = CompiledUnit(Adder(32, 2))
    left, right = words(1 << 20, 32), words(1 << 20, 32).astype(np.uint32)
    tracemalloc.start()
    try:
        total = adder(left=left, right=right)["total"]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert total.nbytes == 8 << 20
    assert peak < total.nbytes + (1 << 20)


@pytest.mark.slow
def test_nothing_of_a_model_remains() -> None:
    table = CompiledUnit(TableLookup())
    table(index=0)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(3000):
        table(index=5)
    # Each model has a table of 32 KiB.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000

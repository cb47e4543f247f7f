"""Arithmetic on vectors gives the golden model's bits, whatever the host; NaNs may be any where a function says so."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ctm.sim.engines.fast.host import Host
from ctm.sim.engines.fast.kernel import Kernel
from ctm.sim.engines.fast.parameters import Slot
from ctm.sim.engines.fast.vector import arithmetic, conversion, selection
from ctm.sim.engines.fast.vector.lanes import POINTER, Value
from ctm.sim.engines.fast.vector.transcendental import Transcendental
from ctm.sim.golden import fp
from ctm.tb.fast.hosts import every_host
from ctm.tb.fast.vector_kernel import apply
from ctm.tb.fp.cases import CASES
from ctm.tb.lib.operands import interacting
from ctm.tb.lib.words import CORNERS, Words, bits, check, floats, near_words, pairs, random_words, triples

UPPER_HALVES = np.arange(1 << 16, dtype=np.uint32) << np.uint32(16)
NAN = np.uint32(0x7FFF_FFFF)
EDGES = (1, 2, 5, 100, 4095, 4096)
"""Elements in a row or a column."""


@dataclass(frozen=True)
class Function:
    """A function of vectors, and the golden one of arrays; with `any_nan` its NaNs have any bits."""

    build: Callable[..., Value]
    golden: Callable[..., Any]
    any_nan: bool = False


def words_of(values: Any) -> Words:
    """Results as words: floats by their bits, conditions as masks."""
    if values.dtype == np.float32:
        return bits(values)
    return -values.astype(np.uint32) if values.dtype == bool else values.astype(np.uint32)


def one_nan(words: Words) -> Words:
    """The machine's NaN for any."""
    return np.where(np.isnan(floats(words)), NAN, words).astype(np.uint32)


def compare(host: Host, functions: Mapping[str, Function], *operands: Words) -> None:
    """Check all functions, which are compiled into one kernel."""

    def build(kernel: Kernel, values: Sequence[Value]) -> list[Value]:
        return [function.build(kernel, *values) for function in functions.values()]

    for (name, function), result in zip(functions.items(), apply(host, build, *operands), strict=True):
        expected = words_of(function.golden(*map(floats, operands)))
        try:
            check(one_nan(result) if function.any_nan else result, expected, *operands)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from None


def transcendental(name: str) -> Function:
    def build(kernel: Kernel, a: Value) -> Value:
        return Transcendental(kernel.lanes, kernel.parameter(Slot.TABLE, POINTER)).apply(name, a)

    return Function(build, getattr(fp, name.lower()))


def scaled(modifier: int, *, clean: bool) -> Function:
    def build(kernel: Kernel, a: Value) -> Value:
        value = selection.flushed(kernel.lanes, a) if clean else a
        return selection.output_modifier(kernel.lanes, value, modifier, clean=clean)

    return Function(build, lambda a: fp.output_modifier(a, modifier), any_nan=True)


def index(edge: int) -> Function:
    return Function(
        lambda kernel, a: conversion.coordinate_index(kernel.lanes, a, kernel.lanes.single(edge - 1)),
        lambda a: fp.coordinate_index(a, edge),
    )


def input_modifier(modifier: int) -> Function:
    return Function(
        lambda kernel, a: selection.input_modifier(kernel.lanes, a, modifier),
        lambda a: fp.input_modifier(a, modifier),
    )


def zero_test(test: int, modifier: int) -> Function:
    """Of what is made of bits: LLVM knows how to test those with integers."""
    return Function(
        lambda kernel, a: selection.test_zero(kernel.lanes, selection.input_modifier(kernel.lanes, a, modifier), test),
        lambda a: fp.test_zero(fp.input_modifier(a, modifier), test),
    )


UNARY = {
    **{name: transcendental(name) for name in ("RCP", "RSQ", "EX2", "LN2", "SIN", "COS")},
    **{f"output modifier {code}": scaled(code, clean=False) for code in range(7)},
    **{f"output modifier {code} of arithmetic": scaled(code, clean=True) for code in range(7)},
    **{f"input modifier {code}": input_modifier(code) for code in range(4)},
    **{
        f"zero test {code} after input modifier {modifier}": zero_test(code, modifier)
        for code in range(4)
        for modifier in range(4)
    },
    **{f"index below {edge}": index(edge) for edge in EDGES},
    "fraction": Function(lambda kernel, a: arithmetic.fraction(kernel.lanes, a), fp.fraction, any_nan=True),
    "clamp": Function(
        lambda kernel, a: selection.clamp(kernel.lanes, selection.flushed(kernel.lanes, a)),
        lambda a: fp.clamp(fp.flush_denormals(a)),
    ),
    "flushed": Function(lambda kernel, a: selection.flushed(kernel.lanes, a), fp.flush_denormals),
    "canonical": Function(
        lambda kernel, a: selection.canonical(kernel.lanes, a), lambda a: floats(one_nan(bits(a)))
    ),
    "kill": Function(
        lambda kernel, a: selection.is_less_than_zero(kernel.lanes, a), lambda a: np.signbit(a) & ~np.isnan(a)
    ),
    "to unorm8": Function(lambda kernel, a: conversion.to_unorm(kernel.lanes, a, 255), fp.to_unorm8),
    "to unorm16": Function(lambda kernel, a: conversion.to_unorm(kernel.lanes, a, 65535), fp.to_unorm16),
}  # fmt: skip


@every_host
def test_functions_of_one_operand(host: Host) -> None:
    """On every upper half of a word, with a lower one of zeros, of ones and of anything."""
    lower = random_words(UPPER_HALVES.size, 1) & np.uint32(0xFFFF)
    unorms = [CASES[f"to_unorm{size}"].random(3000, 2)["word"] for size in (8, 16)]
    coordinates = CASES["coordinate_index"].random(3000, 3)["word"]
    directed = (CORNERS, random_words(20_000, 4), near_words(20_000, 5, spread=60), *unorms, coordinates)
    compare(
        host, UNARY,
        np.concatenate([UPPER_HALVES, UPPER_HALVES | np.uint32(0xFFFF), UPPER_HALVES | lower, *directed]),
    )  # fmt: skip


@every_host
def test_integers_of_unorm_formats(host: Host) -> None:
    every = np.arange(1 << 16, dtype=np.uint32)

    def build(kernel: Kernel, operands: Sequence[Value]) -> list[Value]:
        lanes = kernel.lanes
        words = lanes.words(operands[0])
        byte = lanes.builder.and_(words, lanes.integer(255))
        return [conversion.from_unorm(lanes, words, 65535), conversion.from_unorm(lanes, byte, 255)]

    wide, narrow = apply(host, build, every)
    check(wide, bits(fp.from_unorm16(every.astype(np.uint16))), every)
    check(narrow, bits(fp.from_unorm8(every.astype(np.uint8))), every)


def presubtract(operation: int) -> Function:
    return Function(
        lambda kernel, a, b: arithmetic.presubtract(kernel.lanes, operation, a, b),
        lambda a, b: fp.presubtract(operation, a, b),
        any_nan=True,
    )


BINARY = {
    **{f"presubtract {operation}": presubtract(operation) for operation in range(4)},
    "minimum": Function(lambda kernel, a, b: selection.minimum(kernel.lanes, a, b), fp.minimum),
    "maximum": Function(lambda kernel, a, b: selection.maximum(kernel.lanes, a, b), fp.maximum),
}


@every_host
def test_functions_of_two_operands(host: Host) -> None:
    left, right = pairs(CORNERS)
    near = near_words(20_000, 6)
    close = near + np.random.default_rng(7).integers(-2, 3, near.size).astype(np.uint32)
    compare(
        host, BINARY,
        np.concatenate([left, random_words(20_000, 8), near, CORNERS]),
        np.concatenate([right, random_words(20_000, 9), close, CORNERS]),
    )  # fmt: skip


def multiply_add(rule: bool) -> Function:
    return Function(
        lambda kernel, a, b, c: arithmetic.multiply_add(kernel.lanes, a, b, c, zero_times_anything=rule),
        lambda a, b, c: fp.multiply_add(a, b, c, zero_times_anything=rule),
        any_nan=True,
    )


def negative_factors(rule: bool) -> Function:
    return Function(
        lambda kernel, a, b, c: multiply_add(rule).build(
            kernel, selection.input_modifier(kernel.lanes, a, 1), selection.input_modifier(kernel.lanes, b, 3), c
        ),
        lambda a, b, c: fp.multiply_add(-a, -np.abs(b), c, zero_times_anything=rule),
        any_nan=True,
    )


TERNARY = {
    "multiply-add": multiply_add(False),
    "multiply-add with zeros": multiply_add(True),
    "multiply-add of negative factors": negative_factors(False),
    "multiply-add of negative factors with zeros": negative_factors(True),
    "above half": Function(lambda kernel, *x: selection.select_above_half(kernel.lanes, *x), fp.select_above_half),
    "not negative": Function(
        lambda kernel, *x: selection.select_not_negative(kernel.lanes, *x), fp.select_not_negative
    ),
}  # fmt: skip


def around_the_smallest_normal(count: int) -> tuple[Words, Words, Words]:
    """Products a little above and below 2^-126, and addends that push them over every boundary there."""
    generator = np.random.default_rng(10)
    exponents = (generator.integers(20, 69, count), np.full(count, 64), generator.integers(0, 3, count))
    fractions = (random_words(count, seed) & np.uint32(0x807FFFFF) for seed in (11, 12, 13))
    a, b, c = (
        exponent.astype(np.uint32) << np.uint32(23) | fraction
        for exponent, fraction in zip(exponents, fractions, strict=True)
    )
    return a, b, c


@every_host
def test_functions_of_three_operands(host: Host) -> None:
    samples = [triples(CORNERS), interacting(60_000, 14), around_the_smallest_normal(20_000)]
    compare(host, TERNARY, *(np.concatenate(column) for column in zip(*samples, strict=True)))


def dot(terms: int, *, addend: bool, rule: bool) -> Function:
    def build(kernel: Kernel, *x: Value) -> Value:
        extra = x[8:] if addend else ()
        return arithmetic.dot(kernel.lanes, x[:terms], x[4 : 4 + terms], extra, zero_times_anything=rule)

    def golden(*x: Any) -> Any:
        return fp.dot(x[:terms], x[4 : 4 + terms], addend=x[8] if addend else None, zero_times_anything=rule)

    return Function(build, golden, any_nan=True)


DOTS = {
    f"{terms} terms{' and an addend' * addend}{', with zeros' * rule}": dot(terms, addend=addend, rule=rule)
    for terms, addend in ((2, False), (2, True), (3, False), (4, False))
    for rule in (False, True)
}


@every_host
def test_dot_products(host: Host) -> None:
    batches = [CASES["dot_product"].corners(), CASES["dot_product"].random(60_000, 15)]
    factors = [np.concatenate([batch[name] for batch in batches]) for name in "ab"]
    count = len(factors[0])
    _, _, addend = interacting(count, 16)
    # Now and then it nearly cancels the first product.
    with np.errstate(all="ignore"):
        product = bits(-(floats(factors[0][:, 0].copy()) * floats(factors[1][:, 0].copy())))
    addend = np.where(np.arange(count) % 3 == 0, product + (np.arange(count) % 5).astype(np.uint32), addend)
    columns = [np.ascontiguousarray(factor[:, term]) for factor in factors for term in range(4)]
    compare(host, DOTS, *columns, addend.astype(np.uint32))

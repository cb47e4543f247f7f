"""The formulas on arrays give the bits of the scalar specification, for every operation."""

import itertools

import numpy as np
import pytest

from ctm.sim.golden import fp
from ctm.sim.golden.r700 import formulas
from ctm.tb.golden.r700 import operations, scalar
from ctm.tb.golden.r700.operands import FEW, OPERANDS, slots
from ctm.tb.lib.words import bits, check, floats, one_by_one, triples

(SINGLES,) = OPERANDS[1]


def clean(words):
    return tuple(bits(fp.flush_denormals(floats(x))) for x in words)


def compute(formula, words, **options):
    """Results as words; nothing is warned of, and the operands stay as they are."""
    carriers = [floats(x.copy()) for x in words]
    with np.errstate(all="raise"):
        results = formula(*carriers, **options)
    for before, after in zip(words, carriers, strict=True):
        assert np.array_equal(before, bits(after))
    assert not any(np.shares_memory(result, x) for result in flattened(results) for x in carriers)
    return results


def flattened(results):
    """Words and masks among results."""
    results = results if isinstance(results, tuple) else (results,)
    return [bits(x) if x.dtype == np.float32 else x for x in results]


def test_every_operation_is_there():
    for tables in (formulas, scalar):
        assert set(tables.VALUES) == set(operations.VALUES)
        assert set(tables.PREDICATES) == set(operations.PREDICATES)
        assert set(tables.REDUCTIONS) == set(operations.REDUCTIONS)
        assert set(tables.INDICES) == set(operations.INDICES)


@pytest.mark.parametrize("name", operations.VALUES)
def test_values(name):
    words = OPERANDS[operations.VALUES[name]]
    formula, specification = formulas.VALUES[name], scalar.VALUES[name]
    if not words:
        assert bits(compute(formula, words)).tolist() == [specification()]
        return
    check(bits(compute(formula, words)), one_by_one(specification, *words), *words)
    words = clean(words)
    check(bits(compute(formula, words, clean=True)), bits(compute(formula, words)), *words)


@pytest.mark.parametrize("name", operations.PREDICATES)
def test_predicates(name):
    words = OPERANDS[operations.PREDICATES[name]]
    formula, specification = formulas.PREDICATES[name], scalar.PREDICATES[name]
    result, holds = compute(formula, words)
    assert holds.dtype == np.bool_
    if not words:
        assert (bits(result).tolist(), holds.tolist()) == ([specification()[0]], [specification()[1]])
        return
    outcomes = [specification(*values) for values in zip(*(x.tolist() for x in words), strict=True)]
    expected_result, expected_holds = zip(*outcomes, strict=True)
    check(bits(result), np.array(expected_result, np.uint32), *words)
    check(holds, np.array(expected_holds), *words)
    words = clean(words)
    for fast, slow in zip(
        flattened(compute(formula, words, clean=True)), flattened(compute(formula, words)), strict=True
    ):
        check(fast, slow, *words)


def check_reduction(name, words):
    sides = [words[:4], words[4:]][: operations.REDUCTIONS[name]]
    carriers = [[floats(x) for x in side] for side in sides]
    with np.errstate(all="raise"):
        results = formulas.REDUCTIONS[name](*carriers)
    sides = [list(zip(*(x.tolist() for x in side), strict=True)) for side in sides]
    expected = zip(*(scalar.REDUCTIONS[name](*values) for values in zip(*sides, strict=True)), strict=True)
    for actual, column in zip(results, expected, strict=True):
        check(bits(actual), np.array(column, np.uint32), *words)
    flushed = [[fp.flush_denormals(x) for x in side] for side in carriers]
    fast = formulas.REDUCTIONS[name](*flushed, clean=True)
    assert all(np.array_equal(bits(x), bits(y)) for x, y in zip(fast, formulas.REDUCTIONS[name](*flushed), strict=True))


@pytest.mark.parametrize("name", operations.REDUCTIONS)
def test_reductions(name):
    check_reduction(name, slots(5000, 30))


def test_cube_of_all_corners():
    x, y, z = triples(FEW)
    check_reduction("CUBE", [z, z, x, y, y, x, z, z])


@pytest.mark.parametrize("name", operations.INDICES)
def test_indices(name):
    with np.errstate(all="raise"):
        actual = formulas.INDICES[name](floats(SINGLES))
    assert actual.dtype == np.int64
    check(actual.astype(np.uint32), one_by_one(lambda x: scalar.INDICES[name](x) % 2**32, SINGLES), SINGLES)


@pytest.mark.parametrize(("omod", "clamp", "dx10"), list(itertools.product(range(4), (False, True), (False, True))))
def test_modifiers(omod, clamp, dx10):
    expected = one_by_one(lambda x: scalar.modify(x, omod, clamp, dx10), SINGLES)
    carrier = floats(SINGLES.copy())
    with np.errstate(all="raise"):
        actual = formulas.modify(carrier, omod, clamp, dx10)
    check(bits(actual), expected, SINGLES)
    assert (actual is carrier) == (not omod and not clamp)
    assert np.array_equal(bits(carrier), SINGLES)
    flushed = fp.flush_denormals(carrier)
    fast = formulas.modify(flushed, omod, clamp, dx10, clean=True)
    assert np.array_equal(bits(fast), bits(formulas.modify(flushed, omod, clamp, dx10)))


@pytest.mark.parametrize("name", [*operations.VALUES, *operations.PREDICATES])
def test_one_element_stands_for_all(name):
    formula = {**formulas.VALUES, **formulas.PREDICATES}[name]
    words = OPERANDS[{**operations.VALUES, **operations.PREDICATES}[name]]
    # Words apart from each other, from zero to NaNs.
    sample = [x[:: x.size // 200] for x in words]
    for shared in itertools.product((False, True), repeat=len(words)):
        mixed = [x[77:78] if alone else x for x, alone in zip(sample, shared, strict=True)]
        spread = [np.broadcast_to(x, sample[0].shape).copy() for x in mixed]
        for few, many in zip(flattened(compute(formula, mixed)), flattened(compute(formula, spread)), strict=True):
            assert few.shape == ((1,) if all(shared) else many.shape)
            assert np.array_equal(np.broadcast_to(few, many.shape), many)


def test_one_slot_stands_for_all():
    words = [x[:300] for x in slots(300, 60)]
    for name, sides in operations.REDUCTIONS.items():
        mixed = [x[:1] if number % 3 == 0 else x for number, x in enumerate(words)]
        spread = [np.broadcast_to(x, 300).copy() for x in mixed]
        narrow, wide = (
            formulas.REDUCTIONS[name](*[[floats(x) for x in side] for side in (y[:4], y[4:])][:sides])
            for y in (mixed, spread)
        )
        for few, many in zip(narrow, wide, strict=True):
            assert np.array_equal(bits(few), bits(many))

"""What every arithmetic unit is compared on: operands, and what the golden model says of them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ctm.rtl.fp.dot_product import TERMS
from ctm.rtl.fp.reduction import Function
from ctm.rtl.fp.selection import Choice
from ctm.rtl.fp.zero_comparison import Comparison
from ctm.rtl.isa.r5xx.opcodes import ZeroTest
from ctm.sim.golden import fp
from ctm.sim.golden.fp.words import Floats
from ctm.tb.lib.operands import interacting, mixed_words, tile_over
from ctm.tb.lib.packing import pack
from ctm.tb.lib.words import CORNERS, Words, bits, floats, pairs, triples

Batch = dict[str, Words]


@dataclass(frozen=True)
class Case:
    """Operands for a unit by port (all combinations of corners; random ones), and the golden results by port."""

    corners: Callable[[], Batch]
    random: Callable[[int, int], Batch]
    """(count, seed) -> operands."""
    golden: Callable[[Batch], Batch]


def _flags(count: int, seed: int, values: int = 2) -> Words:
    return np.random.default_rng(seed).integers(0, values, count).astype(np.uint32)


def _multiply_add_corners() -> Batch:
    a, b, c = triples(CORNERS)
    return tile_over({"a": a, "b": b, "c": c}, "zero_times_anything", 2)


def _multiply_add_random(count: int, seed: int) -> Batch:
    a, b, c = interacting(count, seed)
    return {"a": a, "b": b, "c": c, "zero_times_anything": _flags(count, seed + 2)}


def _multiply_add_golden(batch: Batch) -> Batch:
    a, b, c = (floats(batch[name]) for name in "abc")
    strict = fp.multiply_add(a, b, c, zero_times_anything=False)
    lenient = fp.multiply_add(a, b, c, zero_times_anything=True)
    return {"result": np.where(batch["zero_times_anything"] != 0, bits(lenient), bits(strict))}


def _multiplication_corners() -> Batch:
    a, b = pairs(CORNERS)
    return {"a": a, "b": b}


def _multiplication_random(count: int, seed: int) -> Batch:
    a, b, _ = interacting(count, seed)
    return {"a": a, "b": b}


def _multiplication_golden(batch: Batch) -> Batch:
    a, b = floats(batch["a"]), floats(batch["b"])
    return {"result": bits(fp.multiply_add(a, b, np.full_like(a, -0.0), zero_times_anything=False))}


def _adder_corners() -> Batch:
    left, right = pairs(CORNERS)
    return tile_over({"left": left, "right": right}, "double", 2)


def _adder_random(count: int, seed: int) -> Batch:
    left, _, right = interacting(count, seed)
    return {"left": left, "right": right, "double": _flags(count, seed + 1)}


def _adder_golden(batch: Batch) -> Batch:
    factor = np.where(batch["double"] != 0, np.float32(2), np.float32(1))
    total = fp.multiply_add(factor, floats(batch["left"]), floats(batch["right"]), zero_times_anything=False)
    return {"result": bits(total)}


def _dot_batch(a: list[Words], b: list[Words], zero_times_anything: Words) -> Batch:
    return {"a": np.stack(a, axis=1), "b": np.stack(b, axis=1), "zero_times_anything": zero_times_anything}


def _dot_corners() -> Batch:
    a, b, c = triples(CORNERS)
    one, minus_zero, zero = (np.full_like(a, word) for word in (0x3F800000, 0x80000000, 0))
    # A product and an addend, at all four inputs at the same time.
    plain = _dot_batch([a, c, minus_zero, minus_zero], [b, one, zero, zero], zero)
    crossed = _dot_batch([minus_zero, minus_zero, c, a], [zero, zero, one, b], zero + 1)
    return {name: np.concatenate([plain[name], crossed[name]]) for name in plain}


def _dot_random(count: int, seed: int) -> Batch:
    a, b = [], []
    for term in range(TERMS):
        left, right, _ = interacting(count, seed + 10 * term)
        a.append(left)
        b.append(right)
    # Every other sum nearly cancels: a term is another one with its sign changed, a few units off.
    cancels = _flags(count, seed + 1) == 1
    step = np.random.default_rng(seed).integers(-2, 3, count)
    a[1] = np.where(cancels, (a[0] ^ np.uint32(0x80000000)) + step, a[1]).astype(np.uint32)
    b[1] = np.where(cancels, b[0], b[1])
    return _dot_batch(a, b, _flags(count, seed + 2))


def _dot_golden(batch: Batch) -> Batch:
    a, b = (floats(np.ascontiguousarray(batch[name].T)) for name in "ab")
    strict = fp.dot(a, b, addend=None, zero_times_anything=False)
    lenient = fp.dot(a, b, addend=None, zero_times_anything=True)
    return {"result": np.where(batch["zero_times_anything"] != 0, bits(lenient), bits(strict))}


def _selection_corners() -> Batch:
    a, b, c = triples(CORNERS)
    return tile_over({"a": a, "b": b, "c": c}, "choice", len(Choice))


def _selection_random(count: int, seed: int) -> Batch:
    a, b, c = interacting(count, seed)
    same = _flags(count, seed + 1, 4) == 0
    return {"a": a, "b": np.where(same, a, b), "c": c, "choice": _flags(count, seed + 2, len(Choice))}


SELECTIONS = {
    Choice.MINIMUM: lambda a, b, c: fp.minimum(a, b),
    Choice.MAXIMUM: lambda a, b, c: fp.maximum(a, b),
    Choice.ABOVE_HALF: fp.select_above_half,
    Choice.NOT_NEGATIVE: fp.select_not_negative,
}


def _selection_golden(batch: Batch) -> Batch:
    a, b, c = (floats(batch[name]) for name in "abc")
    results = {choice.value: bits(select(a, b, c)) for choice, select in SELECTIONS.items()}
    return {"word": np.choose(batch["choice"], [results[code] for code in sorted(results)])}


SCALES = (0, 1, 2, 3, -1, -2, -3)
"""What the output modifiers 0 to 6 add to the exponent."""


def _modifier(word: Words, modifier: Words, clamp: Words) -> Batch:
    """Modifier 7 leaves the word untouched."""
    scale = np.array([*SCALES, 0])[modifier]
    return {
        "word": word,
        "scale": (scale & 7).astype(np.uint32),
        "untouched": (modifier == len(SCALES)).astype(np.uint32),
        "clamp": clamp,
    }


def _modifier_corners() -> Batch:
    batch = tile_over(tile_over({"word": CORNERS}, "modifier", len(SCALES) + 1), "clamp", 2)
    return _modifier(**batch)


def _modifier_random(count: int, seed: int) -> Batch:
    return _modifier(mixed_words(count, seed), _flags(count, seed + 1, len(SCALES) + 1), _flags(count, seed + 2))


def modified(words: Words, modifier: Words, clamp: Words) -> Words:
    """Words after output modifier (7: untouched) and clamp."""
    values = floats(words)
    scaled = np.choose(modifier, [*(bits(fp.output_modifier(values, code)) for code in range(len(SCALES))), words])
    return np.where(clamp != 0, bits(fp.clamp(floats(scaled.astype(np.uint32)))), scaled)


def _modifier_golden(batch: Batch) -> Batch:
    codes = {scale & 7: code for code, scale in enumerate(SCALES)}
    modifier = np.array([codes.get(scale, 0) for scale in range(8)])[batch["scale"]]
    modifier = np.where(batch["untouched"] != 0, len(SCALES), modifier)
    return {"result": modified(batch["word"], modifier, batch["clamp"])}


def comparisons(words: Words) -> Words:
    """Each word against zero, as Comparison."""
    values = floats(words)
    holds = {test.name.lower(): fp.test_zero(values, test.value).astype(np.uint32) for test in ZeroTest}
    return pack(Comparison, holds).astype(np.uint32)


TRANSCENDENTALS = {
    Function.EX2: fp.ex2,
    Function.LN2: fp.ln2,
    Function.RCP: fp.rcp,
    Function.RSQ: fp.rsq,
    Function.SIN: fp.sin,
    Function.COS: fp.cos,
}


def _transcendental_random(count: int, seed: int) -> Batch:
    return {"word": mixed_words(count, seed), "function": _flags(count, seed + 1, len(Function))}


def transcendental(words: Words, function: Words) -> Words:
    """The functions of words by their codes."""
    result = np.empty_like(words)
    for code, compute in TRANSCENDENTALS.items():
        chosen = function == code.value
        result[chosen] = bits(compute(floats(words[chosen])))
    return result


def _unorm(bits_: int) -> Case:
    every = np.arange(1 << bits_, dtype=np.uint32)
    kinds: dict[int, tuple[type[np.unsignedinteger], Callable[..., Floats]]] = {
        8: (np.uint8, fp.from_unorm8),
        16: (np.uint16, fp.from_unorm16),
    }
    narrow, convert = kinds[bits_]
    return Case(
        corners=lambda: {"number": every},
        random=lambda count, seed: {"number": _flags(count, seed, 1 << bits_)},
        golden=lambda batch: {"result": bits(convert(batch["number"].astype(narrow)))},
    )


def _near_integers(count: int, seed: int, largest: int) -> Words:
    """Words around (n / 2) / largest, where rounding changes direction, and others."""
    generator = np.random.default_rng(seed)
    near = (generator.integers(0, 2 * largest + 2, count) / (2 * largest)).astype(np.float32)
    step = generator.integers(-2, 3, count)
    words = np.maximum(bits(near).astype(np.int64) + step, 0).astype(np.uint32)
    return np.where(generator.integers(0, 4, count) == 0, mixed_words(count, seed), words)


_FRACTIONS = np.array([(127 - power) << 23 for power in range(1, 25)], np.uint32)
"""1/2, 1/4 and so on: of their products with the largest number only the lowest bits are all shifted out."""


def _to_unorm(bits_: int) -> Case:
    kinds: dict[int, Callable[[Floats], np.ndarray]] = {8: fp.to_unorm8, 16: fp.to_unorm16}
    convert = kinds[bits_]
    return Case(
        corners=lambda: {"word": np.concatenate([CORNERS, _FRACTIONS])},
        random=lambda count, seed: {"word": _near_integers(count, seed, (1 << bits_) - 1)},
        golden=lambda batch: {"result": convert(floats(batch["word"])).astype(np.uint32)},
    )


_LIMITS = np.array([1, 2, 3, 4, 5, 100, 2047, 2048, 4095, 4096], np.uint32)


def _coordinate_corners() -> Batch:
    word, limit = np.meshgrid(CORNERS, _LIMITS)
    return {"word": word.ravel(), "limit": limit.ravel()}


def _coordinate_random(count: int, seed: int) -> Batch:
    generator = np.random.default_rng(seed)
    limit = generator.choice(_LIMITS, count)
    near = (generator.integers(-2, 4100, count) / generator.choice([1, 2, 3], count)).astype(np.float32)
    step = generator.integers(-1, 2, count)
    word = (bits(near) + step).astype(np.uint32)
    return {"word": np.where(generator.integers(0, 4, count) == 0, mixed_words(count, seed), word), "limit": limit}


def _coordinate_golden(batch: Batch) -> Batch:
    word, limit = batch["word"], batch["limit"]
    index = np.empty_like(word)
    for edge in np.unique(limit):
        chosen = limit == edge
        index[chosen] = fp.coordinate_index(floats(word[chosen]), int(edge))
    with np.errstate(invalid="ignore"):
        # Denormals are zeros, and floor(-0) is 0.
        floor = np.floor(fp.flush_denormals(floats(word)).astype(np.float64))
    return {"index": index, "inside": ((floor >= 0) & (floor < limit)).astype(np.uint32)}


CASES = {
    "multiply_add": Case(_multiply_add_corners, _multiply_add_random, _multiply_add_golden),
    "multiplication": Case(_multiplication_corners, _multiplication_random, _multiplication_golden),
    "adder": Case(_adder_corners, _adder_random, _adder_golden),
    "fraction": Case(
        lambda: {"word": CORNERS},
        lambda count, seed: {"word": mixed_words(count, seed)},
        lambda batch: {"result": bits(fp.fraction(floats(batch["word"])))},
    ),
    "dot_product": Case(_dot_corners, _dot_random, _dot_golden),
    "selection": Case(_selection_corners, _selection_random, _selection_golden),
    "output_modifier": Case(_modifier_corners, _modifier_random, _modifier_golden),
    "zero_test": Case(
        lambda: {"word": CORNERS},
        lambda count, seed: {"word": mixed_words(count, seed)},
        lambda batch: {"holds": comparisons(batch["word"])},
    ),
    "transcendental": Case(
        lambda: tile_over({"word": CORNERS}, "function", len(Function)),
        _transcendental_random,
        lambda batch: {"result": transcendental(batch["word"], batch["function"])},
    ),
    "from_unorm8": _unorm(8),
    "from_unorm16": _unorm(16),
    "to_unorm8": _to_unorm(8),
    "to_unorm16": _to_unorm(16),
    "coordinate_index": Case(_coordinate_corners, _coordinate_random, _coordinate_golden),
}

"""What the lane is compared on: random instructions and operands, and the golden model's results of them."""

import numpy as np
import numpy.typing as npt

from ctm.rtl.fp.reduction import Function
from ctm.rtl.fp.selection import Choice
from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r5xx.limits import SCALAR
from ctm.rtl.r5xx.entries import ChannelControl, Dot, LaneControl, Operation
from ctm.sim.golden import fp
from ctm.tb.fp.cases import SCALES, SELECTIONS, Batch, Case, comparisons, modified, transcendental
from ctm.tb.lib.operands import interacting
from ctm.tb.lib.packing import Fields, pack, unpack
from ctm.tb.lib.words import Words, bits, floats


def _channel(generator: np.random.Generator, operation: npt.NDArray[np.int64]) -> Fields:
    count = operation.size
    untouched = (operation == Operation.SELECTION.value) & (generator.integers(0, 3, count) == 0)
    return {
        "operation": operation,
        "choice": generator.integers(0, len(Choice), count),
        "fraction": (operation == Operation.SUM.value) & (generator.integers(0, 4, count) == 0),
        "untouched": untouched,
        "scale": np.where(untouched, 0, generator.integers(-3, 4, count)),
        "clamp": generator.integers(0, 2, count),
    }


def _random(count: int, seed: int) -> Batch:
    generator = np.random.default_rng(seed)
    vector = generator.integers(0, len(Operation), count)
    # A scalar DOT copies the vector's, a vector TRANSCENDENTAL the scalar's: neither stands alone.
    scalar = generator.integers(0, len(Operation), count)
    scalar = np.where((scalar == Operation.DOT.value) & (vector != Operation.DOT.value), 0, scalar)
    scalar = np.where(vector == Operation.TRANSCENDENTAL.value, Operation.TRANSCENDENTAL.value, scalar)
    control = pack(
        LaneControl,
        {
            "vector": _channel(generator, vector),
            "scalar": _channel(generator, scalar),
            "dot": generator.integers(0, len(Dot), count),
            "function": generator.integers(0, len(Function), count),
            "zero_times_anything": generator.integers(0, 2, count),
        },
    )
    words = [word for channel in range(CHANNELS) for word in interacting(count, seed + 10 * channel)]
    operands = np.stack(words, axis=1)
    # Sums of zeros only: rare by themselves.
    sparse = generator.choice(np.array([0, 0x80000000, 1, 0x80000001, 0x3F800000], np.uint32), operands.shape)
    only_few = generator.integers(0, 16, (count, 1)) == 0
    return {"operands": np.where(only_few, sparse, operands), "control": control}


def _sums(a: Words, b: Words, c: Words, control: Fields, zero_times_anything: Words) -> Words:
    values = floats(a), floats(b), floats(c)
    strict, lenient = (bits(fp.multiply_add(*values, zero_times_anything=allowed)) for allowed in (False, True))
    total = np.where(zero_times_anything != 0, lenient, strict)
    return np.where(control["fraction"] != 0, bits(fp.fraction(values[0])), total)


def _dots(operands: Words, kind: Words, zero_times_anything: Words) -> Words:
    """DP3, DP4 and D2A of operands [n, 4, 3]."""
    a, b = (floats(np.ascontiguousarray(operands[:, :, operand].T)) for operand in (0, 1))
    addend = floats(np.ascontiguousarray(operands[:, 2, 2]))
    results = []
    for allowed in (False, True):
        three, four = (bits(fp.dot(a[:terms], b[:terms], addend=None, zero_times_anything=allowed)) for terms in (3, 4))
        two = bits(fp.dot(a[:2], b[:2], addend=addend, zero_times_anything=allowed))
        results.append(np.choose(kind, [three, four, two]))
    return np.where(zero_times_anything != 0, results[1], results[0])


def _selected(a: Words, b: Words, c: Words, choice: Words) -> Words:
    return np.choose(choice, [bits(SELECTIONS[kind](floats(a), floats(b), floats(c))) for kind in Choice])


def _golden(batch: Batch) -> Batch:
    control = unpack(LaneControl, batch["control"])
    operands = batch["operands"].reshape(-1, CHANNELS, 3)
    shared = control["zero_times_anything"]
    dots = _dots(operands, control["dot"], shared)
    functions = transcendental(np.ascontiguousarray(operands[:, SCALAR, 0]), control["function"])
    results = []
    for channel in range(CHANNELS):
        fields = unpack(ChannelControl, control["scalar" if channel == SCALAR else "vector"])
        a, b, c = (np.ascontiguousarray(operands[:, channel, operand]) for operand in range(3))
        by_operation = [_sums(a, b, c, fields, shared), _selected(a, b, c, fields["choice"]), dots, functions]
        chosen = np.choose(fields["operation"], by_operation).astype(np.uint32)
        scale = fields["scale"].astype(np.int64)
        codes = {value & 7: code for code, value in enumerate(SCALES)}
        modifier = np.array([codes.get(value, 0) for value in range(8)])[scale]
        modifier = np.where(fields["untouched"] != 0, len(SCALES), modifier)
        results.append(modified(chosen, modifier, fields["clamp"]).astype(np.uint32))
    holds = [comparisons(result) << np.uint32(4 * channel) for channel, result in enumerate(results)]
    return {"results": np.stack(results, axis=1), "comparisons": np.bitwise_or.reduce(holds)}


def _corners() -> Batch:
    """The lane's units have all corners in their own tests; here they are among the random operands."""
    return _random(100_000, 99)


LANE = Case(_corners, _random, _golden)

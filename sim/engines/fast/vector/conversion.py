"""Between floats and what memory and coordinates hold. Source: CTM Guide pp. 6-7, 33; docs/arithmetic.md."""

from ctm.sim.engines.fast.vector.lanes import Lanes, Value


def from_unorm(lanes: Lanes, words: Value, largest: int) -> Value:
    """The float nearest to n / largest, which is never a tie."""
    return lanes.builder.fdiv(lanes.builder.uitofp(words, lanes.floats), lanes.single(largest))


def to_unorm(lanes: Lanes, values: Value, largest: int) -> Value:
    """Values clamped to [0, 1], NaN being 0, times `largest`, rounded to nearest even; words."""
    # The product has at most 40 bits and is exact in float64.
    clamped = lanes.widen(_limited(lanes, values, lanes.single(1)))
    product = lanes.builder.fmul(clamped, lanes.double(largest))
    return lanes.builder.fptosi(lanes.apply("rint", product), lanes.integers)


def coordinate_index(lanes: Lanes, values: Value, last: Value) -> Value:
    """floor(x) clamped to [0, last], NaN being 0; `last` is floats, the result words."""
    return lanes.builder.fptosi(_limited(lanes, values, last), lanes.integers)


def _limited(lanes: Lanes, values: Value, largest: Value) -> Value:
    """Values clamped to [0, largest], NaN being 0."""
    builder, zero = lanes.builder, lanes.single(0)
    positive = lanes.choose(builder.fcmp_ordered(">", values, zero), values, zero)
    return lanes.choose(builder.fcmp_ordered("<", positive, largest), positive, largest)


def truncated(lanes: Lanes, values: Value, *, signed: bool) -> Value:
    """Values truncated to integers, saturated, NaN being 0; words."""
    name = f"llvm.fpto{'s' if signed else 'u'}i.sat.v{lanes.width}i32.v{lanes.width}f32"
    return lanes.call(name, lanes.integers, values)

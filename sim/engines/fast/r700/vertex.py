"""Vertex fetches: elements by their index, of the float constants or of an input as a linear array."""

from ctm.rtl.isa.limits import CHANNELS, FLOAT_CONSTANTS, WORD_BYTES
from ctm.sim.engines.fast.kernel import Kernel
from ctm.sim.engines.fast.r700.constants import Constants
from ctm.sim.engines.fast.vector.fetch import fetch
from ctm.sim.engines.fast.vector.lanes import Lanes, Value
from ctm.sim.golden.r700.instruction import Vertex

_WORDS = CHANNELS * FLOAT_CONSTANTS


def vertex(kernel: Kernel, constants: Constants, instruction: Vertex, index: Value) -> list[Value]:
    """The four words of each lane's element `index`."""
    lanes = kernel.lanes
    if instruction.input is None:
        return _constants(lanes, constants, instruction, index)
    form, buffer = kernel.frame.buffers[instruction.input], kernel.buffers[instruction.input]
    if form.is_empty:
        return [lanes.none] * CHANNELS
    row, column = _divided(lanes, index, buffer.scale_x)
    x, y = (
        lanes.apply("umin", at, lanes.builder.sub(lanes.splat(limit), lanes.integer(1)))
        for at, limit in ((column, buffer.width_limit), (row, buffer.height_limit))
    )
    return [lanes.words(value) for value in fetch(lanes, form, buffer, x, y)]


def _divided(lanes: Lanes, index: Value, pitch: Value) -> tuple[Value, Value]:
    """Quotient and remainder of unsigned words by a small scalar that is not 0."""
    builder, divisor = lanes.builder, lanes.splat(pitch)
    # A quotient that is not an integer lies further from the next one than float64 rounds.
    quotient = builder.fdiv(builder.uitofp(index, lanes.doubles), builder.uitofp(divisor, lanes.doubles))
    row = builder.fptoui(quotient, lanes.integers)
    return row, builder.sub(index, builder.mul(row, divisor))


def _constants(lanes: Lanes, constants: Constants, instruction: Vertex, index: Value) -> list[Value]:
    """Constants as an array of words: an element that is not there as a whole is 0 in all of its channels."""
    builder, offset = lanes.builder, instruction.offset // WORD_BYTES
    components = [lanes.none] * (CHANNELS - 1) + [lanes.integer(instruction.one)]
    last = (_WORDS - offset - instruction.channels) // CHANNELS
    if last < 0:
        exists = builder.trunc(lanes.none, lanes.bits)
    else:
        exists = builder.icmp_unsigned("<=", index, lanes.integer(last))
    first = builder.add(builder.mul(index, lanes.integer(CHANNELS)), lanes.integer(offset))
    for channel in range(instruction.channels):
        components[channel] = constants.gather(builder.add(first, lanes.integer(channel)), exists)
    return components

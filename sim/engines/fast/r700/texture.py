"""Texture instructions: fetches from inputs, and what neighbours in a quad differ in."""

from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r700.fetch import TextureOperation
from ctm.sim.engines.fast.kernel import Kernel
from ctm.sim.engines.fast.vector.conversion import coordinate_index
from ctm.sim.engines.fast.vector.fetch import clamped, fetch
from ctm.sim.engines.fast.vector.lanes import Lanes, Value
from ctm.sim.engines.fast.vector.selection import canonical
from ctm.sim.golden.r700.instruction import Texture

_DIFFERENCES = {TextureOperation.GET_GRADIENTS_H: (3, 2), TextureOperation.GET_GRADIENTS_V: (2, 0)}
"""Lanes of a quad whose difference is the gradient of all four."""
_WITHOUT_EFFECT = (TextureOperation.KEEP_GRADIENTS, TextureOperation.SET_GRADIENTS_H, TextureOperation.SET_GRADIENTS_V)
_FAR = 1 << 20
"""Texels, or halves: more than any input has."""


def texture(kernel: Kernel, instruction: Texture, coordinates: list[Value]) -> list[Value] | None:
    """The four words that an instruction finds; None if it has no effect."""
    lanes = kernel.lanes
    if instruction.operation in _WITHOUT_EFFECT:
        return None
    if instruction.operation in _DIFFERENCES:
        return [_gradient(lanes, words, *_DIFFERENCES[instruction.operation]) for words in coordinates]
    form, buffer = kernel.frame.buffers[instruction.input], kernel.buffers[instruction.input]
    if instruction.operation is TextureOperation.GET_TEXTURE_RESINFO:
        return [lanes.splat(buffer.scale_x), lanes.splat(buffer.scale_y), lanes.integer(1), lanes.integer(1)]
    if form.is_empty:
        return [lanes.none] * CHANNELS
    x = _index(lanes, instruction, 0, coordinates[0], buffer.scale_x, buffer.width_limit)
    y = _index(lanes, instruction, 1, coordinates[1], buffer.scale_y, buffer.height_limit)
    return [lanes.words(value) for value in fetch(lanes, form, buffer, x, y)]


def _gradient(lanes: Lanes, words: Value, minuend: int, subtrahend: int) -> Value:
    one, other = (lanes.as_floats(lanes.of_quad(words, lane)) for lane in (minuend, subtrahend))
    return lanes.words(canonical(lanes, lanes.builder.fsub(one, other)))


def _index(lanes: Lanes, instruction: Texture, axis: int, words: Value, extent: Value, limit: Value) -> Value:
    """The column or row of a fetch: coordinate times extent where normalised, plus the offset, floor, clamp."""
    builder, offset = lanes.builder, instruction.offsets[axis]
    if instruction.operation is TextureOperation.LD:
        near = lanes.apply("smax", lanes.apply("smin", words, lanes.integer(_FAR)), lanes.integer(-_FAR))
        return clamped(lanes, builder.add(near, lanes.integer(offset >> 1)), limit)
    coordinate = lanes.as_floats(words)
    if instruction.normalised[axis]:
        coordinate = builder.fmul(coordinate, builder.sitofp(lanes.splat(extent), lanes.floats))
    if offset == 0:
        last = builder.sitofp(builder.sub(lanes.splat(limit), lanes.integer(1)), lanes.floats)
        return coordinate_index(lanes, coordinate, last)
    # The floor of a sum with whole halves needs no more of the coordinate than its whole halves.
    halves = lanes.apply("floor", builder.fmul(coordinate, lanes.single(2)))
    least, most = lanes.single(-_FAR), lanes.single(_FAR)
    halves = lanes.choose(builder.fcmp_unordered("uno", halves, halves), lanes.single(0), halves)
    halves = lanes.choose(builder.fcmp_ordered(">", halves, least), halves, least)
    halves = lanes.choose(builder.fcmp_ordered("<", halves, most), halves, most)
    total = builder.add(builder.fptosi(halves, lanes.integers), lanes.integer(offset))
    return clamped(lanes, builder.ashr(total, lanes.integer(1)), limit)

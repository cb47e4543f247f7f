"""Elements of memory: gathered for a lookup, stored by outputs. Source: CTM Guide pp. 5-7."""

from collections.abc import Sequence

from llvmlite import ir

from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.limits import CHANNELS
from ctm.sim.engines.fast.vector.address import Form
from ctm.sim.engines.fast.vector.conversion import from_unorm, to_unorm
from ctm.sim.engines.fast.vector.lanes import BYTE, FLOAT, INT, LONG, SHORT, Lanes, Value

_MISSING = (0.0, 0.0, 0.0, 1.0)
_UNORM8, _UNORM16 = 255, 65535
_BYTE_BITS = 8


def gather(lanes: Lanes, form: Form, memory: Value, address: Value) -> list[Value]:
    """Elements at byte addresses, four floats; the bits of FLOAT32 formats pass unchanged, missing ones are 0, 0, 1."""
    found = _gather(lanes, form, memory, address)
    return found + [lanes.single(value) for value in _MISSING[len(found) :]]


def _gather(lanes: Lanes, form: Form, memory: Value, address: Value) -> list[Value]:
    builder = lanes.builder
    if form.format is DataFormat.UINT16_1:
        words = builder.zext(_loaded(lanes, memory, address, SHORT), lanes.integers)
        return [from_unorm(lanes, words, _UNORM16)]
    if form.format is DataFormat.UINT8_4:
        words = _loaded(lanes, memory, address, INT)
        parts = [builder.lshr(words, lanes.integer(_BYTE_BITS * channel)) for channel in range(CHANNELS)]
        return [from_unorm(lanes, builder.and_(part, lanes.integer(_UNORM8)), _UNORM8) for part in parts]
    if form.element.channels == 1:
        return [_loaded(lanes, memory, address, FLOAT)]
    return _transposed(lanes, memory, address, form.element.channels)


def gather_words(lanes: Lanes, form: Form, memory: Value, address: Value) -> Value:
    """What elements of one channel hold, as words."""
    kind = INT if form.element.is_float else SHORT
    words = _loaded(lanes, memory, address, kind)
    return words if kind is INT else lanes.builder.zext(words, lanes.integers)


def _loaded(lanes: Lanes, memory: Value, address: Value, kind: Value) -> Value:
    """A scalar of `kind` for each lane."""
    result = ir.Constant(ir.VectorType(kind, lanes.width), ir.Undefined)
    for lane, scalar in enumerate(lanes.scalars(address)):
        loaded = lanes.builder.load(_place(lanes, memory, scalar), typ=kind)
        result = lanes.put(result, loaded, lane)
    return result


def _transposed(lanes: Lanes, memory: Value, address: Value, channels: int) -> list[Value]:
    """Floats of each channel, from elements that are loaded whole."""
    builder, kind = lanes.builder, ir.VectorType(FLOAT, channels)
    parts = []
    for scalar in lanes.scalars(address):
        loaded = builder.load(_place(lanes, memory, scalar), typ=kind)
        # Bases are aligned, so elements are.
        loaded.align = 4 * channels
        parts.append(loaded)
    joined = lanes.joined(parts)
    return [lanes.every(joined, channels, channel) for channel in range(channels)]


def _place(lanes: Lanes, memory: Value, address: Value) -> Value:
    """Pointer to a byte address of the machine, a scalar."""
    return lanes.builder.gep(memory, [lanes.builder.zext(address, LONG)], source_etype=BYTE)


def stored_words(lanes: Lanes, form: Form, values: Value) -> Value:
    """What a channel stores for floats that have the machine's NaN, as words."""
    if form.element.is_float:
        return lanes.words(values)
    return to_unorm(lanes, values, _UNORM16 if form.format is DataFormat.UINT16_1 else _UNORM8)


def scatter(
    lanes: Lanes, form: Form, memory: Value, address: Value, words: Sequence[Value], masks: Sequence[Value]
) -> None:
    """Store the channels of elements, where each one's mask says so, lane by lane."""
    builder = lanes.builder
    everything = masks[0]
    for mask in masks[1:]:
        everything = builder.and_(everything, mask)
    missing = lanes.any(builder.not_(everything))
    with builder.if_else(missing) as (some, all_of_them):
        with some:
            _scatter_some(lanes, form, memory, address, words, masks)
        with all_of_them:
            _scatter_all(lanes, form, memory, address, words)


def _scatter_all(lanes: Lanes, form: Form, memory: Value, address: Value, words: Sequence[Value]) -> None:
    """Whole elements of all lanes."""
    builder, element = lanes.builder, form.element
    if form.format is DataFormat.UINT8_4:
        packed = words[0]
        for channel, word in enumerate(words[1:], start=1):
            packed = builder.or_(packed, builder.shl(word, lanes.integer(_BYTE_BITS * channel)))
        words = [packed]
    for lane in range(lanes.width):
        place = _place(lanes, memory, lanes.pick(address, lane))
        scalars = [lanes.pick(word, lane) for word in words]
        if form.format is DataFormat.UINT16_1:
            builder.store(builder.trunc(scalars[0], SHORT), place)
        elif len(scalars) == 1:
            builder.store(scalars[0], place)
        else:
            vector = ir.Constant(ir.VectorType(INT, len(scalars)), ir.Undefined)
            for channel, scalar in enumerate(scalars):
                vector = builder.insert_element(vector, scalar, ir.Constant(INT, channel))
            builder.store(vector, place).align = element.element_bytes


def _scatter_some(
    lanes: Lanes, form: Form, memory: Value, address: Value, words: Sequence[Value], masks: Sequence[Value]
) -> None:
    """Those channels that masks choose, in a loop over the lanes: it is rare and need not be long."""
    builder, element = lanes.builder, form.element
    kind = {1: BYTE, 2: SHORT, 4: INT}[element.channel_bytes]
    with builder.goto_entry_block():
        kept = [builder.alloca(lanes.integers) for _ in range(1 + 2 * len(words))]
        counter = builder.alloca(INT)
    for place, vector in zip(kept, [address, *words, *masks], strict=True):
        builder.store(vector, place)
    function = builder.function
    loop, behind = function.append_basic_block("lane"), function.append_basic_block("behind")
    builder.store(ir.Constant(INT, 0), counter)
    builder.branch(loop)
    builder.position_at_end(loop)
    lane = builder.load(counter, typ=INT)

    def of_lane(vector: Value) -> Value:
        return builder.load(builder.gep(vector, [lane], source_etype=INT), typ=INT)

    first = of_lane(kept[0])
    for channel in range(len(words)):
        chosen = builder.icmp_signed("!=", of_lane(kept[1 + len(words) + channel]), ir.Constant(INT, 0))
        with builder.if_then(chosen):
            word = of_lane(kept[1 + channel])
            at = builder.add(first, ir.Constant(INT, channel * element.channel_bytes))
            builder.store(word if kind is INT else builder.trunc(word, kind), _place(lanes, memory, at))
    following = builder.add(lane, ir.Constant(INT, 1))
    builder.store(following, counter)
    builder.cbranch(builder.icmp_signed("<", following, ir.Constant(INT, lanes.width)), loop, behind)
    builder.position_at_end(behind)

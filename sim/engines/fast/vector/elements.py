"""Elements of memory: gathered for a fetch, stored by outputs. Source: CTM Guide pp. 5-7."""

from collections.abc import Iterator, Sequence

from llvmlite import ir

from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.limits import CHANNELS, QUAD
from ctm.sim.engines.fast.vector.address import Form
from ctm.sim.engines.fast.vector.conversion import from_unorm, to_unorm
from ctm.sim.engines.fast.vector.lanes import BYTE, FLOAT, INT, LONG, SHORT, Lanes, Value

_MISSING = (0.0, 0.0, 0.0, 1.0)
_UNORM8, _UNORM16 = 255, 65535
_BYTE_BITS = 8


def gather(lanes: Lanes, form: Form, memory: Value, address: Value) -> list[Value]:
    """Elements at byte addresses, four floats; the bits of FLOAT32 formats pass unchanged, missing ones are 0, 0, 1."""
    lanes = lanes.of(address)
    found = _gather(lanes, form, memory, address)
    return found + [lanes.fenced(lanes.single(value)) for value in _MISSING[len(found) :]]


def _gather(lanes: Lanes, form: Form, memory: Value, address: Value) -> list[Value]:
    builder = lanes.builder
    if form.format is DataFormat.UINT16_1:
        words = builder.zext(_loaded(lanes, memory, address, SHORT), lanes.integers)
        return [from_unorm(lanes, words, _UNORM16)]
    if form.format is DataFormat.UINT8_4:
        words = _loaded(lanes, memory, address, INT)
        shifted = [builder.lshr(words, lanes.integer(_BYTE_BITS * channel)) for channel in range(CHANNELS)]
        return [from_unorm(lanes, builder.and_(each, lanes.integer(_UNORM8)), _UNORM8) for each in shifted]
    if form.element.channels == 1:
        return [_loaded(lanes, memory, address, FLOAT)]
    pointers = [_pointer(lanes, memory, scalar) for scalar in lanes.scalars(address)]
    # Bases are aligned, so elements are.
    return [
        lanes.as_floats(words) for words in lanes.gathered(pointers, form.element.channels, form.element.element_bytes)
    ]


def gather_words(lanes: Lanes, form: Form, memory: Value, address: Value) -> Value:
    """What elements of one channel hold, as words."""
    kind = INT if form.element.is_float else SHORT
    words = _loaded(lanes, memory, address, kind)
    return words if kind is INT else lanes.builder.zext(words, lanes.integers)


def _loaded(lanes: Lanes, memory: Value, address: Value, kind: Value) -> Value:
    """A scalar of `kind` for each lane."""
    result = ir.Constant(ir.VectorType(kind, lanes.width), ir.Undefined)
    for lane, scalar in enumerate(lanes.scalars(address)):
        loaded = lanes.builder.load(_pointer(lanes, memory, scalar), typ=kind)
        result = lanes.put(result, loaded, lane)
    return result


def _pointer(lanes: Lanes, memory: Value, address: Value) -> Value:
    """Pointer to a byte address of the machine, a scalar."""
    return lanes.builder.gep(memory, [lanes.builder.zext(address, LONG)], source_etype=BYTE)


def stored_words(lanes: Lanes, form: Form, values: Value) -> Value:
    """What a channel stores for floats that have the machine's NaN, as words."""
    if form.element.is_float:
        return lanes.words(values)
    return to_unorm(lanes, values, _UNORM16 if form.format is DataFormat.UINT16_1 else _UNORM8)


def store(
    lanes: Lanes, form: Form, memory: Value, address: Value, words: Sequence[Value], masks: Sequence[Value]
) -> None:
    """Store the channels of the elements of the pixels' own pairs, where each one's mask says so."""
    builder = lanes.builder
    everything = masks[0]
    for mask in masks[1:]:
        everything = builder.and_(everything, mask)
    missing = lanes.any(builder.not_(everything))
    with builder.if_else(missing) as (some, all_of_them):
        with some:
            scatter(lanes, form, memory, address, words, masks)
        with all_of_them:
            _store_all(lanes, form, memory, address, words)


def _store_all(lanes: Lanes, form: Form, memory: Value, address: Value, words: Sequence[Value]) -> None:
    """Whole elements of all lanes by pairs: lanes 0 and 1 of a quad, and 2 and 3, have neighbouring ones."""
    builder, scalars = lanes.builder, lanes.scalars(address)
    for first, vector in _pairs(lanes, form, words):
        stored = builder.store(vector, _pointer(lanes, memory, scalars[first]))
        # Rows and bases are aligned, and the lower of a pair of elements is an even one.
        stored.align = 2 * form.element.element_bytes


def _pairs(lanes: Lanes, form: Form, words: Sequence[Value]) -> Iterator[tuple[int, Value]]:
    """What each pair of lanes stores, with the number of its first lane."""
    builder, evens = lanes.builder, range(0, lanes.width, 2)
    if form.element.channels == CHANNELS and form.element.is_float:
        by_lane = lanes.transposed(words)
        for lane in evens:
            block = lane // QUAD * QUAD
            pairs = [block + at for at in range(QUAD)] + [lanes.width + block + at for at in range(QUAD)]
            order = ir.Constant(ir.VectorType(INT, 2 * QUAD), pairs)
            yield lane, builder.shuffle_vector(by_lane[lane % QUAD], by_lane[lane % QUAD + 1], order)
        return
    if form.element.channels == 2:
        halves = lanes.interleaved(*words)
        for lane in evens:
            block = lane // QUAD * QUAD
            order = ir.Constant(ir.VectorType(INT, QUAD), [block + at for at in range(QUAD)])
            half = halves[lane % QUAD // 2]
            yield lane, builder.shuffle_vector(half, half, order)
        return
    packed = words[0]
    for channel, word in enumerate(words[1:], start=1):
        packed = builder.or_(packed, builder.shl(word, lanes.integer(_BYTE_BITS * channel)))
    pair = LONG
    if form.format is DataFormat.UINT16_1:
        packed, pair = builder.trunc(packed, ir.VectorType(SHORT, lanes.width)), INT
    joined = builder.bitcast(packed, ir.VectorType(pair, lanes.width // 2))
    for lane in evens:
        yield lane, lanes.pick(joined, lane // 2)


def scatter(
    lanes: Lanes, form: Form, memory: Value, address: Value, words: Sequence[Value], masks: Sequence[Value]
) -> None:
    """Store the channels of elements anywhere, where each one's mask says so: lane by lane, the last one wins.

    It is a loop, because it is rare and need not be long.
    """
    builder, element = lanes.builder, form.element
    kind = {1: BYTE, 2: SHORT, 4: INT}[element.channel_bytes]
    with builder.goto_entry_block():
        kept = [builder.alloca(lanes.integers) for _ in range(1 + 2 * len(words))]
        counter = builder.alloca(INT)
    for pointer, vector in zip(kept, [address, *words, *masks], strict=True):
        builder.store(vector, pointer)
    function = builder.function
    loop, after = function.append_basic_block("lane"), function.append_basic_block("after")
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
            builder.store(word if kind is INT else builder.trunc(word, kind), _pointer(lanes, memory, at))
    following = builder.add(lane, ir.Constant(INT, 1))
    builder.store(following, counter)
    builder.cbranch(builder.icmp_signed("<", following, ir.Constant(INT, lanes.width)), loop, after)
    builder.position_at_end(after)

"""Which groups a lane is tested with: every operation in every slot, corners and random operands."""

from collections.abc import Iterator, Sequence

import numpy as np

from ctm.rtl.isa.r700.limits import GROUP_SLOTS, TRANS_SLOT, VECTOR_SLOTS
from ctm.rtl.isa.r700.operations import OPERATIONS, Operation, Result, Slots
from ctm.rtl.r700.border.lane import SLOT_OPERANDS
from ctm.tb.lib.operands import interacting, mixed_words
from ctm.tb.lib.words import CORNERS, Words, bits, floats, near_words
from ctm.tb.r700.lane.groups import NOP, Batch, Instruction

INTEGER_CORNERS = np.array(
    [
        *range(4), 5, 7, 30, 31, 32, 33, 63, 64, 127, 128, 255, 256, 257, 511, 512, 513, 0xFFFF, 0x10000, 0x10001,
        0xFFFFFF, 0x1000000, 0x1000001, 0x55555555, 0xAAAAAAAA, 0x7FFFFFFE, 0x7FFFFFFF, 0x80000000, 0x80000001,
        0xFFFF0000, 0xFFFF8000, 0xFFFFFEFF, 0xFFFFFF00, 0xFFFFFF01, 0xFFFFFFE0, 0xFFFFFFFE, 0xFFFFFFFF,
    ],
    np.uint32,
)  # fmt: skip
ALL_CORNERS = np.unique(np.concatenate([CORNERS, INTEGER_CORNERS]))
_BY_SLOTS = {kind: [each for each in OPERATIONS.values() if each.slots is kind] for kind in Slots}


def integers(count: int, seed: int) -> Words:
    """Words of all lengths, of either sign, some of them small, and corners."""
    generator = np.random.default_rng(seed)
    words = generator.integers(0, 1 << 32, count, np.uint32) >> generator.integers(0, 32, count).astype(np.uint32)
    words = np.where(generator.integers(0, 3, count) == 0, ~words, words)
    corners = generator.choice(INTEGER_CORNERS, count)
    return np.where(generator.integers(0, 6, count) == 0, corners, words).astype(np.uint32)


def small_floats(count: int, seed: int) -> Words:
    """Multiples of 1/4, and their neighbours."""
    generator = np.random.default_rng(seed)
    quarters = (generator.integers(-1200, 1200, count) / 4).astype(np.float32)
    return (quarters.view(np.uint32).astype(np.int64) + generator.integers(-1, 2, count)).astype(np.uint32)


def close_products(count: int, seed: int) -> tuple[Words, Words, Words]:
    """(a, b, c): products that are about a power of two, or halfway between two words, and addends near -a * b."""
    generator = np.random.default_rng(seed)
    a = near_words(count, seed)
    with np.errstate(all="ignore"):
        inverse = bits(np.float32(1) / floats(a)).astype(np.int64) + generator.integers(-2, 3, count)
    # Odd numbers of so many bits that the product has 25, whose last one makes a tie, or 24, and is exact.
    length = generator.integers(2, 24, count)
    left, right = (
        (generator.integers(0, 1 << 24, count) & ((1 << each) - 1)) | 1 | 1 << each - 1
        for each in (length, 25 - length)
    )
    ties = generator.integers(0, 2, count) == 0
    first = np.where(ties, bits(left.astype(np.float32)), a)
    second = np.where(ties, bits(right.astype(np.float32)), inverse.astype(np.uint32))
    with np.errstate(all="ignore"):
        product = bits(-(floats(first) * floats(second))).astype(np.int64)
    addends = [product + generator.integers(-2, 3, count), np.zeros(count, np.int64), near_words(count, seed + 9)]
    return first, second, np.choose(generator.integers(0, 3, count), addends).astype(np.uint32)


def random_operands(count: int, seed: int) -> Words:
    """Operands [n, 5, 3]: floats that interact, integers, small floats, equal and few different ones."""
    generator = np.random.default_rng(seed)
    slots = []
    for position in range(GROUP_SLOTS):
        own = seed + 100 * position
        kinds = [
            np.stack(interacting(count, own), axis=1),
            np.stack(close_products(count, own), axis=1),
            np.stack([integers(count, own + 10 + each) for each in range(SLOT_OPERANDS)], axis=1),
            np.stack([small_floats(count, own + 20 + each) for each in range(SLOT_OPERANDS)], axis=1),
            generator.choice(ALL_CORNERS, (count, SLOT_OPERANDS)),
        ]
        chosen = generator.choice(len(kinds), count, p=(0.3, 0.1, 0.3, 0.2, 0.1))
        words = np.choose(chosen[:, None], kinds).astype(np.uint32)
        same = generator.integers(0, 8, count) == 0
        words[:, 1] = np.where(same, words[:, 0], words[:, 1])
        slots.append(words)
    return np.stack(slots, axis=1)


def _modified(generator: np.random.Generator, operation: Operation, *, plain: bool = False) -> Instruction:
    if plain or generator.integers(0, 3) == 0:
        return Instruction(operation=operation)
    is_float = operation.result is Result.FLOAT
    has_three = operation.operands == SLOT_OPERANDS
    return Instruction(
        operation=operation,
        absolute=0 if has_three else int(generator.integers(0, 4)),
        negate=int(generator.integers(0, 8)),
        omod=int(generator.integers(0, 4)) if is_float and not has_three else 0,
        clamp=bool(is_float and generator.integers(0, 3) == 0),
    )


def random_group(generator: np.random.Generator) -> tuple[Instruction, ...]:
    """Five instructions that may stand in a group, but for predicates, of which there may be several."""
    anything = _BY_SLOTS[Slots.ANY]
    vector = [*anything, *_BY_SLOTS[Slots.VECTOR]]
    trans = [*anything, *2 * _BY_SLOTS[Slots.TRANS]]
    if generator.integers(0, 8) == 0:
        reduction = generator.choice(np.array(_BY_SLOTS[Slots.REDUCTION]))
        slots = [reduction] * VECTOR_SLOTS
    else:
        slots = [generator.choice(np.array(vector)) for _ in range(VECTOR_SLOTS)]
    return tuple(_modified(generator, operation) for operation in (*slots, generator.choice(np.array(trans))))


def random_batches(groups: int, pixels: int, seed: int) -> Iterator[Batch]:
    """Groups of any instructions with any modifiers."""
    generator = np.random.default_rng(seed)
    for number in range(groups):
        yield Batch(
            slots=random_group(generator),
            operands=random_operands(pixels, seed + 1000 * number),
            dx10_clamp=bool(generator.integers(0, 2)),
        )


def _combinations(operands: int, corners: Words) -> Words:
    """All combinations of corners as rows of three operands."""
    axes = np.meshgrid(*[corners] * operands, indexing="ij") if operands else [np.zeros(1, np.uint32)]
    rows = np.zeros((axes[0].size, SLOT_OPERANDS), np.uint32)
    for position, axis in enumerate(axes[:operands]):
        rows[:, position] = axis.ravel()
    return rows


def _rotations(operations: Sequence[Operation], slots: int) -> Iterator[tuple[Instruction, ...]]:
    """Groups in which each operation is once in each of the first slots."""
    for first in range(0, len(operations), slots):
        some = [Instruction(operation=each) for each in operations[first : first + slots]]
        some += [NOP] * (slots - len(some))
        for shift in range(slots):
            yield (*some[shift:], *some[:shift], *[NOP] * (GROUP_SLOTS - slots))


def corner_batches(corners_of_three: Words) -> Iterator[Batch]:
    """Every operation but reductions in every slot that takes it, with all combinations of corners.

    For three operands the corners are those given.
    """
    for operands in range(SLOT_OPERANDS + 1):
        corners = corners_of_three if operands == SLOT_OPERANDS else ALL_CORNERS
        rows = _combinations(operands, corners)
        for kind, slots in ((Slots.ANY, GROUP_SLOTS), (Slots.VECTOR, VECTOR_SLOTS), (Slots.TRANS, 1)):
            chosen = [each for each in _BY_SLOTS[kind] if each.operands == operands]
            for group in _rotations(chosen, slots):
                group = (*[NOP] * TRANS_SLOT, group[0]) if kind is Slots.TRANS else group
                yield Batch(slots=group, operands=np.repeat(rows[:, None], GROUP_SLOTS, axis=1))


def byte_batches() -> Iterator[Batch]:
    """Every integer operation of two operands, each in one slot, with all pairs of signed bytes."""
    rows = _combinations(2, np.arange(-128, 128).astype(np.uint32))
    operands = np.repeat(rows[:, None], GROUP_SLOTS, axis=1)
    chosen = [each for each in OPERATIONS.values() if each.operands == 2 and each.name.endswith("INT")]
    vector = [each for each in chosen if each.slots is Slots.ANY]
    for first in range(0, len(vector), VECTOR_SLOTS):
        slots = [Instruction(operation=each) for each in vector[first : first + VECTOR_SLOTS]]
        yield Batch(slots=(*slots, *[NOP] * (GROUP_SLOTS - len(slots))), operands=operands)
    for operation in chosen:
        if operation.slots is Slots.TRANS:
            yield Batch(slots=(*[NOP] * TRANS_SLOT, Instruction(operation=operation)), operands=operands)


def reduction_batches(pixels: int, seed: int) -> Iterator[Batch]:
    """Reductions of corners, of numbers that nearly cancel, and of such that are equal but for their signs."""
    generator = np.random.default_rng(seed)
    signs = np.uint32(0x80000000) * generator.integers(0, 2, (pixels, GROUP_SLOTS, SLOT_OPERANDS), np.uint32)
    few = generator.choice(CORNERS, (pixels, 1, SLOT_OPERANDS)).repeat(GROUP_SLOTS, axis=1) ^ signs
    some = random_operands(pixels, seed)
    cancelling = some.copy()
    step = generator.integers(-2, 3, pixels)
    cancelling[:, 1, 0] = ((some[:, 0, 0] ^ np.uint32(0x80000000)).astype(np.int64) + step).astype(np.uint32)
    cancelling[:, 1, 1] = some[:, 0, 1]
    direction = np.stack([mixed_words(pixels, seed + position) for position in range(3)], axis=1)
    same = generator.integers(0, 3, (pixels, 3)) == 0
    direction = np.where(same, direction[:, :1] ^ signs[:, 0], direction)
    cube = np.zeros((pixels, GROUP_SLOTS, SLOT_OPERANDS), np.uint32)
    cube[:, :VECTOR_SLOTS, 0] = direction[:, [2, 2, 0, 1]]
    for operation in _BY_SLOTS[Slots.REDUCTION]:
        for operands in (generator.choice(CORNERS, some.shape), few, some, cancelling, cube):
            slots = (*[_modified(generator, operation, plain=True)] * VECTOR_SLOTS, NOP)
            yield Batch(slots=slots, operands=operands)


def family_batches(names: Sequence[str], pixels: int, seed: int) -> Iterator[Batch]:
    """Some operations of any slot, each in all slots at once, with random operands that interact."""
    for number, name in enumerate(names):
        operation = next(each for each in OPERATIONS.values() if each.name == name)
        words = []
        for position in range(GROUP_SLOTS):
            own = seed + 10 * number + position
            kinds = [np.stack(draw(pixels, own), axis=1) for draw in (interacting, close_products)]
            words.append(np.where(np.arange(pixels)[:, None] % 4 == 0, kinds[1], kinds[0]))
        yield Batch(slots=(Instruction(operation=operation),) * GROUP_SLOTS, operands=np.stack(words, axis=1))

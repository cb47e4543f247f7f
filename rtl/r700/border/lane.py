"""Layouts between the units of an R700 core: the slots' controls, their operands and results.

Source: R700-Family Instruction Set Architecture, chapter 4; docs/arithmetic.md.
"""

from amaranth import signed
from amaranth.lib import data, enum

from ctm.rtl.fp.reduction import Function
from ctm.rtl.fp.result import SCALE
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.isa.r700.limits import GROUP_SLOTS, HIGHEST_INDEX

SLOT_OPERANDS = 3
INDEX = signed(HIGHEST_INDEX.bit_length() + 1)
"""The index in an address register."""


class Lhs(enum.Enum, shape=3):
    """The source of `lhs`, the first of the two words that a slot compares, adds or chooses from.

    SHARED is the word of MAX4 or CUBE for this slot, and in t that of a conversion to an integer.
    """

    OPERAND_0 = 0
    OPERAND_1 = 1
    PRODUCT = 2
    INTEGER = 3
    SHARED = 4


class Rhs(enum.Enum, shape=3):
    """The source of `rhs`. INTEGRAL and FRACTION are the words of rounding to integral values and of FRACT."""

    OPERAND_1 = 0
    OPERAND_2 = 1
    MINUS_ZERO = 2
    ONE = 3
    LARGEST = 4
    INTEGRAL = 5
    FRACTION = 6


class IntegerOperation(enum.Enum, shape=4):
    """The integer unit's operation of operands 0 and 1."""

    AND = 0
    OR = 1
    XOR = 2
    NOT = 3
    ADD = 4
    SUB = 5
    ASHR = 8
    LSHR = 9
    LSHL = 10


class Sum(enum.Enum, shape=3):
    """The adder's result: a sum, FRACT, or `lhs` rounded to an integral value.

    UP rounds to the nearest one, halves up.
    """

    ADDITION = 0
    FRACTION = 1
    TRUNC = 2
    CEIL = 3
    RNDNE = 4
    FLOOR = 5
    UP = 6


class Type(enum.Enum, shape=2):
    """The type of a comparison's words."""

    FLOAT = 0
    SIGNED = 1
    UNSIGNED = 2


class Relation(data.Struct):
    """The relation of two words: one bit is set. The last two are of floats: a NaN in the first word, in the second."""

    less: 1
    equal: 1
    greater: 1
    first_nan: 1
    second_nan: 1


class Test(enum.Enum, shape=2):
    """Whether a condition holds.

    COMPARE: of `lhs` and `rhs`. FIRST: of operand 0 and zero. SECOND: of operand 1 and zero, and operand 0 is 0.0.
    LIT: MUL_LIT gives LOWEST, in t.
    """

    COMPARE = 0
    FIRST = 1
    SECOND = 2
    LIT = 3


class Source(enum.Enum, shape=3):
    """The source of a result.

    SUM: the rounded sum, DOT4 or function. LOWEST is -MAX_FLOAT, in t. POST_MULTIPLIED is slot t's post-multiplier.
    """

    SUM = 0
    LHS = 1
    RHS = 2
    ZERO = 3
    ONE = 4
    ONES = 5
    LOWEST = 6
    POST_MULTIPLIED = 7


class Limit(enum.Enum, shape=2):
    """The replacement of an infinity in a function of slot t: _CLAMPED, _FF."""

    NONE = 0
    LARGEST = 1
    ZERO = 2


class PostMultiply(enum.Enum, shape=2):
    """Operations of slot t's post-multiplier."""

    LOW_PRODUCT = 0
    HIGH_PRODUCT = 1
    RECIPROCAL = 2
    ROOT = 3


class TransControl(data.Struct):
    """Controls that only slot t has. `converts`: the sum is an integer as a float, not a function."""

    function: Function
    limit: Limit
    post_multiply: PostMultiply
    converts: 1


class SlotControl(data.Struct):
    """The control of one slot, from SlotDecoder.

    `absolute` and `negate` are those of operands, operand 0 first. The result is what `if_true` or `if_false` names,
    as the test accepts the relation or not. `inverts` makes the second a 1.0 if operand 0 is a zero, `pops` a 0.0 of a
    sum <= 0. With `shares_sum` the sum is DOT4's, or in t that of a function or a conversion. The shared word is CUBE's
    with `cube`, else MAX4's. `scale` and `clamp` are for floats.
    """

    absolute: 2
    negate: SLOT_OPERANDS
    lhs: Lhs
    rhs: Rhs
    zero_times_anything: 1
    integer: IntegerOperation
    sum: Sum
    shares_sum: 1
    cube: 1
    test: Test
    type: Type
    accepts: Relation
    if_true: Source
    if_false: Source
    inverts: 1
    pops: 1
    scale: SCALE
    clamp: 1
    sets_predicate: 1
    kills: 1
    trans: TransControl


class LaneControl(data.Struct):
    """The control of a lane for a group: its slots x, y, z, w, t, and whether the program's clamp makes 0 of a NaN."""

    slots: data.ArrayLayout(SlotControl, GROUP_SLOTS)
    dx10_clamp: 1


GROUP_OPERANDS = data.ArrayLayout(data.ArrayLayout(WORD_BITS, SLOT_OPERANDS), GROUP_SLOTS)
"""Operands of the slots x, y, z, w, t as they were read, before ABS and NEG."""


class LaneResults(data.Struct):
    """The results of a lane for a group.

    `words` are the results after OMOD and CLAMP, `indices` those of the vector slots' MOVA operations for the address
    register (undefined for others). `predicate` is that of the group's PRED_SET, `kill` a bit for each slot whose KILL
    holds; both are 0 where there is none.
    """

    words: data.ArrayLayout(WORD_BITS, GROUP_SLOTS)
    indices: data.ArrayLayout(INDEX, GROUP_SLOTS - 1)
    predicate: 1
    kill: GROUP_SLOTS


class OperationFacts(data.Struct):
    """Facts of an operation for the decoder: the number of its operands, its slots, its effects.

    Not `is_legal`: illegal, and all others are 0. `takes_modifiers`: its result is a float, for OMOD and CLAMP.
    """

    is_legal: 1
    operands: 2
    vector_only: 1
    trans_only: 1
    is_reduction: 1
    takes_modifiers: 1
    sets_predicate: 1
    kills: 1
    sets_address: 1

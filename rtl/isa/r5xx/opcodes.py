"""Codes inside instruction words: operations, selections, modifiers, tests.

Numbers follow the R5xx register reference, names the CTM Guide (pp. 23-40). A code that is not listed is illegal.
"""

from amaranth.lib import enum


class InstructionType(enum.Enum, shape=2):
    """Which unit executes the instruction; CTM Guide p. 23."""

    ALU = 0
    OUTPUT = 1
    FC = 2
    TEX = 3


class PredicateSelect(enum.Enum, shape=3):
    """Which predicate bit gates a channel: none, the channel's own, or one bit for all."""

    NONE = 0
    RGBA = 1
    RRRR = 2
    GGGG = 3
    BBBB = 4
    AAAA = 5


class ZeroTest(enum.Enum, shape=2):
    """A result against zero, for predicate bits (TARGET of an ALU instruction) and the ALU result; p. 32."""

    EQUAL = 0
    LESS = 1
    GREATER_EQUAL = 2
    NOT_EQUAL = 3


class Presubtract(enum.Enum, shape=2):
    """What srcp is; p. 26."""

    BIAS = 0
    SUB = 1
    ADD = 2
    INV = 3


class Select(enum.Enum, shape=2):
    """The source that an operand reads; p. 26."""

    SRC0 = 0
    SRC1 = 1
    SRC2 = 2
    SRCP = 3


class Swizzle(enum.Enum, shape=3):
    """What a channel of an operand reads of its source; p. 27."""

    R = 0
    G = 1
    B = 2
    A = 3
    ZERO = 4
    HALF = 5
    ONE = 6


class Channel(enum.Enum, shape=2):
    """What a texture coordinate or result channel reads."""

    R = 0
    G = 1
    B = 2
    A = 3


class InputModifier(enum.Enum, shape=2):
    """What happens to an operand after its swizzle; p. 27."""

    OFF = 0
    NEG = 1
    ABS = 2
    NAB = 3


class OutputModifier(enum.Enum, shape=3):
    """What happens to a result before the clamp; p. 29. DISABLED is for MIN, MAX, CND and CMP only."""

    U1 = 0
    U2 = 1
    U4 = 2
    U8 = 3
    D2 = 4
    D4 = 5
    D8 = 6
    DISABLED = 7


class RgbOperation(enum.Enum, shape=4):
    """Operations of the vec3 unit; p. 28. MDH and MDV are in the R5xx register reference only."""

    MAD = 0
    DP3 = 1
    DP4 = 2
    D2A = 3
    MIN = 4
    MAX = 5
    CND = 7
    CMP = 8
    FRC = 9
    SOP = 10
    MDH = 11
    MDV = 12


class AlphaOperation(enum.Enum, shape=4):
    """Operations of the scalar unit; p. 28."""

    MAD = 0
    DP = 1
    MIN = 2
    MAX = 3
    CND = 5
    CMP = 6
    FRC = 7
    EX2 = 8
    LN2 = 9
    RCP = 10
    RSQ = 11
    SIN = 12
    COS = 13
    MDH = 14
    MDV = 15


class UmrtTarget(enum.Enum, shape=2):
    """TARGET of an OUTPUT in an uncached-write program; p. 31."""

    SAME_IDX = 0
    SAME_IDX_ACQUIRE = 1
    PER_PROCESSOR_IDX = 2
    PER_PROCESSOR_IDX_ACQUIRE = 3


ACQUIRING = UmrtTarget.SAME_IDX_ACQUIRE.value, UmrtTarget.PER_PROCESSOR_IDX_ACQUIRE.value
"""Targets whose writes acquire the semaphore."""


class TextureOperation(enum.Enum, shape=3):
    """Operations of a TEX instruction; p. 33. There are no mip levels: LODBIAS, LOD and DXDY behave as LOOKUP."""

    NOP = 0
    LOOKUP = 1
    KILL_LT_0 = 2
    LOOKUP_PROJ = 3
    LODBIAS = 4
    LOD = 5
    DXDY = 6
    LOOKUP_UNCACHED = 7


WITHOUT_LOOKUP = frozenset({TextureOperation.NOP, TextureOperation.KILL_LT_0})
"""Texture operations that read no input and write no temporary."""


class FlowOperation(enum.Enum, shape=3):
    """OP of a flow-control instruction; p. 37."""

    JUMP = 0
    LOOP = 1
    ENDLOOP = 2
    REP = 3
    ENDREP = 4
    BREAKLOOP = 5
    BREAKREP = 6
    CONTINUE = 7


class AddressOperation(enum.Enum, shape=2):
    """What a jump does to the address stack; p. 37."""

    NONE = 0
    POP = 1
    PUSH = 2


class BranchOperation(enum.Enum, shape=2):
    """What a decision does to the branch counters; p. 37."""

    NONE = 0
    DECR = 1
    INCR = 2


class JumpFunction(enum.Enum, shape=8):
    """Common values of JUMP_FUNC, bit (alu_result << 2 | predicate << 1 | boolean); p. 36. Any other is legal too."""

    NEVER = 0x00
    NOT_ALU_RESULT = 0x0F
    NOT_PREDICATE = 0x33
    NOT_BOOLEAN = 0x55
    BOOLEAN = 0xAA
    PREDICATE = 0xCC
    ALU_RESULT = 0xF0
    ALWAYS = 0xFF

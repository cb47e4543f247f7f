"""Sizes that the R700 instruction set fixes.

Source: R700-Family Instruction Set Architecture, chapters 2 to 4; docs/r700.md for what the manual
leaves open.
"""

from ctm.rtl.isa.limits import CHANNELS, TEMPORARIES

UNIT_BYTES = 8
"""CF instructions, ALU words and literals have 64 bits, a fetch instruction two such units, which addresses count."""
UNIT_WORDS = UNIT_BYTES // 4
CODE_UNITS = 8192
FETCH_UNITS = 2
"""Units of a fetch instruction; a fetch clause begins at a multiple of them."""

ALU_CLAUSE_UNITS = 128
FETCH_CLAUSE_INSTRUCTIONS = 16

CLAUSE_TEMPORARIES = 4
FIRST_CLAUSE_TEMPORARY = TEMPORARIES - CLAUSE_TEMPORARIES
"""The highest general-purpose registers' numbers are clause temporaries: NUM_GPRS is at most this."""

VECTOR_SLOTS = CHANNELS
TRANS_SLOT = VECTOR_SLOTS
"""A group's slots are x, y, z, w and, as number 4, t."""
GROUP_SLOTS = VECTOR_SLOTS + 1
GROUP_LITERALS = 4
"""Literal words that a group can name."""
LITERALS_PER_UNIT = 2
READ_CYCLES = 3
"""Cycles in which a group's operands are read; BANK_SWIZZLE says which operand in which."""
CONSTANT_PAIRS = 2
"""Halves (xy or zw) of constant rows that a group can read."""
TRANS_CONSTANTS = 2
"""Constant operands, of any kind, that the t slot can have."""

STACK_ENTRIES = 64
"""Most that STACK_SIZE may ask for."""
SUBENTRIES = 4
"""Subentries of a stack entry."""
BRANCH_SUBENTRIES = 1
CALL_SUBENTRIES = 1
LOOP_SUBENTRIES = 4
FIRST_BRANCH_SUBENTRIES = 2
"""Taken once as long as the stack has any branch entry."""
CALL_DEPTH = 32

LOOP_INDEX_BITS = 9
"""Width of aL, which is unsigned and wraps."""
LOWEST_INDEX, HIGHEST_INDEX = -256, 255
"""What an address register holds."""

KCACHE_LINE_ROWS = 16
"""Rows of the constant file in a line that a clause locks."""
KCACHE_SETS = 2
KCACHE_SET_ROWS = 32
"""Rows that a set's selects reach."""

LDS_BANKS = 4
LDS_BANK_DWORDS = 1024
"""Dwords of each bank of the local data share, of which a wavefront has LDS_DWORDS."""
LDS_ROW = 4
"""Dwords of a bank that are read or written at once."""

LARGEST_WAVEFRONT = 64

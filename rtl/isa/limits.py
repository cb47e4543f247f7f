"""Sizes that memory and the command stream fix, for every configuration of the machine.

Source: CTM Guide pp. 5-16 and 23-38; R5xx register reference, US block.
"""

BYTE_BITS = 8
WORD_BITS = 32
WORD_BYTES = WORD_BITS // BYTE_BITS
ADDRESS_BITS = 32
"""Width of a byte address."""

TEMPORARIES = 128
REGISTER_BITS = (TEMPORARIES - 1).bit_length()
"""Width of a temporary's number."""
FLOAT_CONSTANTS = 256
INT_CONSTANTS = 32
BOOL_CONSTANTS = 32

INPUTS = 16
OUTPUTS = 4
CHANNELS = 4

QUAD = 4
"""Pixels of a 2x2 quad, the unit in which work is issued."""

COORDINATE_BITS = 12
COORDINATE_LIMIT = 1 << COORDINATE_BITS
"""Index pairs, and so domains, inputs and outputs, reach to this limit in both directions."""
COLUMN_BITS = COORDINATE_BITS + 1
"""A group reaches beyond the last column with lanes that are not covered."""

BASE_ALIGNMENT = 2048
"""Every base address is a multiple of this many bytes; its lower bits are ignored."""

ADDRESS_SPACE = 1 << ADDRESS_BITS
SYSTEM_MEMORY = 0x8000_0000
"""First address of system memory; everything below is local memory."""

"""Sizes that the instruction set and the command stream fix, for every configuration of the machine.

Source: CTM Guide pp. 5-16 and 23-38; R5xx register reference, US block.
"""

INSTRUCTION_SLOTS = 512
INSTRUCTION_WORDS = 6
INSTRUCTION_BYTES = 4 * INSTRUCTION_WORDS

TEMPORARIES = 128
REGISTER_BITS = (TEMPORARIES - 1).bit_length()
"""Width of a temporary's number."""
FLOAT_CONSTANTS = 256
INT_CONSTANTS = 32
BOOL_CONSTANTS = 32
LOOP_INDEX_BITS = 9
"""Width of aL. It wraps; N + aL then wraps inside the file that it addresses."""

INPUTS = 16
OUTPUTS = 4
CHANNELS = 4

QUAD = 4
"""Processors of a 2x2 quad, the unit in which work is issued."""

COORDINATE_BITS = 12
COORDINATE_LIMIT = 1 << COORDINATE_BITS
"""Index pairs, and so domains, inputs and outputs, reach to this limit in both directions."""

BASE_ALIGNMENT = 2048
"""Every base address is a multiple of this many bytes; its lower bits are ignored."""

ADDRESS_SPACE = 1 << 32
SYSTEM_MEMORY = 0x8000_0000
"""First address of system memory; everything below is local memory."""

BRANCH_COUNTER_FULL = 31
BRANCH_COUNTER_PARTIAL = 5
"""Largest value of a processor's branch counter in full and partial flow control: branches nest one deeper."""
LOOP_STACK = 4
ADDRESS_STACK = 4
"""Entries in full flow control. Partial flow control has neither stack."""

"""Sizes that the R5xx instruction set fixes.

Source: CTM Guide pp. 23-40; R5xx register reference, US block.
"""

from ctm.rtl.isa.limits import WORD_BYTES

INSTRUCTION_SLOTS = 512
INSTRUCTION_WORDS = 6
INSTRUCTION_BYTES = WORD_BYTES * INSTRUCTION_WORDS
SLOT_BITS = (INSTRUCTION_SLOTS - 1).bit_length()
"""Width of an instruction's number in the code."""

ALU_SOURCES = 3
"""Sources that each unit of an ALU or OUTPUT instruction reads."""
SCALAR = 3
"""The scalar unit's channel, alpha; those before it are the vector unit's, RGB."""

LOOP_INDEX_BITS = 9
"""Width of aL. It wraps; N + aL then wraps inside the file that it addresses."""

BRANCH_COUNTER_FULL = 31
BRANCH_COUNTER_PARTIAL = 5
"""Largest value of a pixel's branch counter in full and partial flow control: branches nest one deeper."""
LOOP_STACK = 4
ADDRESS_STACK = 4
"""Entries in full flow control. Partial flow control has neither stack."""

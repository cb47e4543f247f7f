"""A program and the state that it runs in, as the cores take it."""

from amaranth.lib import data

from ctm.rtl.border.buffers import LIMIT_BITS, LIMITS
from ctm.rtl.isa.limits import COORDINATE_BITS, INPUTS, REGISTER_BITS, WORD_BITS
from ctm.rtl.isa.r5xx.limits import INSTRUCTION_SLOTS
from ctm.rtl.r5xx.state import PC_BITS

PITCH_BITS = COORDINATE_BITS + 1
SLOT_BITS = (INSTRUCTION_SLOTS - 1).bit_length()

INPUT = data.StructLayout({"limits": LIMITS, "pitch": PITCH_BITS, "height": LIMIT_BITS})
"""An input's limits, and what scaled coordinates are multiplied by (a height of 0 is 4096)."""

PROGRAM = data.StructLayout(
    {
        "size": PC_BITS,
        "start": PC_BITS,
        "end": PC_BITS,
        "code_offset": SLOT_BITS,
        "highest_temporary": REGISTER_BITS,
        "zero_times_anything": 1,
        "full_flow_control": 1,
        "conditional_from_program": 1,
        "uncached_writes": 1,
        "tests": 1,
        "conditional_value": WORD_BITS,
        "watchdog": WORD_BITS,
        "inputs": data.ArrayLayout(INPUT, INPUTS),
        "output": LIMITS,
    }
)
"""A program and the state that it runs in; constant while a group is resident.

`start` and `end` are absolute. With `tests` groups are tested by the conditional unit when they end.
`conditional_value` is that of lanes whose program gives none. `watchdog` is the number of instructions that a group may
execute, 0 = any. `output` are the limits of uncached writes.
"""

"""What crosses the border of a core: groups that come in, what the program is, and the memory clients.

Memory clients speak of pairs and of constants, never of addresses: translation, formats and masks of outputs are the
memory controller's. All are streams; of the answers, those to instructions, constants and tests come in the order of
the requests, those to lookups in the order of each slot's requests only. Of uncached writes only those that acquire are
answered, when they and all earlier ones of their slot are done.
"""

from typing import Any

from amaranth.lib import data, enum, stream
from amaranth.lib.wiring import In, Out

from ctm.rtl.co.border import request_layout, response_layout
from ctm.rtl.config import ArrayConfig
from ctm.rtl.isa.limits import (
    CHANNELS,
    COORDINATE_BITS,
    FLOAT_CONSTANTS,
    INPUTS,
    INSTRUCTION_SLOTS,
    OUTPUTS,
    REGISTER_BITS,
)
from ctm.rtl.pe.border import COLUMN_BITS
from ctm.rtl.r5xx.code.alu_control import INSTRUCTION
from ctm.rtl.r5xx.state import PC_BITS

WORD_BITS = 32
SLOT_BITS = (INSTRUCTION_SLOTS - 1).bit_length()
LIMIT_BITS = COORDINATE_BITS + 1
PITCH_BITS = COORDINATE_BITS + 1

BEAT_WORDS = 4
LINE_BEATS = 4
"""A line of constants is four beats of four words: 4 float constants, or 16 int or bool constants."""
LINE_BITS = (FLOAT_CONSTANTS // LINE_BEATS - 1).bit_length()


class ConstantBank(enum.Enum, shape=2):
    """The three files of constants."""

    FLOAT = 0
    INT = 1
    BOOL = 2


LIMITS = data.StructLayout({"width": LIMIT_BITS, "height": LIMIT_BITS})
"""Columns and rows of a buffer that exist, 0 to 4096."""
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


def words_layout(lanes: int) -> data.ArrayLayout:
    """Four channels of every lane."""
    return data.ArrayLayout(data.ArrayLayout(WORD_BITS, CHANNELS), lanes)


def lookup_tag_layout(config: ArrayConfig) -> data.StructLayout:
    """Which lookup it is: a slot, and one of its outstanding lookups."""
    return data.StructLayout({"slot": (config.threads - 1).bit_length(), "entry": (config.lookups - 1).bit_length()})


def memory_members(config: ArrayConfig, *, cores: int = 1) -> dict[str, Any]:
    """The memory clients of a core, or those that `cores` of them share: uncached writes then have a core's number.

    It stands above the slot's.
    """
    lanes, slot = config.lanes, (config.threads - 1).bit_length() + (cores - 1).bit_length()
    indices, lane_words = data.ArrayLayout(COORDINATE_BITS, lanes), data.ArrayLayout(WORD_BITS, lanes)
    pair: dict[str, Any] = {"i": COLUMN_BITS, "j": COORDINATE_BITS}
    tag: dict[str, Any] = {"tag": lookup_tag_layout(config)}
    requests: dict[str, dict[str, Any]] = {
        "instruction_request": {"slot": SLOT_BITS},
        "constant_request": {"bank": ConstantBank, "line": LINE_BITS},
        "lookup_request": tag
        | {"input": (INPUTS - 1).bit_length(), "uncached": 1, "x": indices, "y": indices, "fetch": lanes},
        "uncached_write": {
            "slot": slot,
            "acquires": 1,
            "x": indices,
            "y": indices,
            "values": lane_words,
            "mask": lanes,
        },
        "output": pair
        | {
            "target": (OUTPUTS - 1).bit_length(),
            "words": words_layout(lanes),
            "mask": data.ArrayLayout(CHANNELS, lanes),
        },
    }
    answers: dict[str, dict[str, Any]] = {
        "instruction_response": {"words": INSTRUCTION, "refused": 1},
        "constant_response": {"words": data.ArrayLayout(WORD_BITS, BEAT_WORDS), "refused": 1},
        "lookup_response": tag | {"words": words_layout(lanes), "refused": 1},
        "uncached_done": {"slot": slot},
    }
    return {
        **{name: Out(stream.Signature(data.StructLayout(fields))) for name, fields in requests.items()},
        "test_request": Out(stream.Signature(request_layout(lanes))),
        **{name: In(stream.Signature(data.StructLayout(fields))) for name, fields in answers.items()},
        "test_response": In(stream.Signature(response_layout(lanes))),
    }

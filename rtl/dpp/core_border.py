"""What crosses the border of a core: groups that come in, what the program is, and the memory clients.

Memory clients speak of pairs and of constants, never of addresses: translation, formats and masks of outputs are the
memory controller's. All are streams; of the answers, those to instructions, constants and tests come in the order of
the requests, those to lookups in the order of each slot's requests only. Of uncached writes only those that acquire are
answered, when they and all earlier ones of their slot are done.
"""

from typing import Any

from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import BEAT_WORDS, CONSTANT_LINE_BITS, ConstantBank, words_layout
from ctm.rtl.border.conditional import request_layout, response_layout
from ctm.rtl.border.programs import PROGRAM_FAULT, group_layout
from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.groups.scheduling import PORTS, STALLS
from ctm.rtl.dpp.program import PROGRAM, SLOT_BITS
from ctm.rtl.isa.limits import CHANNELS, COLUMN_BITS, COORDINATE_BITS, INPUTS, OUTPUTS, WORD_BITS
from ctm.rtl.r5xx.entries import INSTRUCTION


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
        "constant_request": {"bank": ConstantBank, "line": CONSTANT_LINE_BITS},
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


def core_members(config: ArrayConfig) -> dict[str, Any]:
    """The border of a core, without its trace."""
    return {
        "program": In(PROGRAM),
        "forget_code": In(1),
        "forget_constants": In(1),
        "load": In(1),
        "group": In(stream.Signature(group_layout(config.lanes))),
        "fault": Out(stream.Signature(PROGRAM_FAULT, always_ready=True)),
        "idle": Out(1),
        "issued": Out(PORTS),
        "active_lanes": Out(data.ArrayLayout(range(config.lanes + 1), PORTS)),
        "stalls": Out(len(STALLS)),
        **memory_members(config),
    }

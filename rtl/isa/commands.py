"""The command stream: command words, their parameters and the parameters' fields.

Source: CTM Guide pp. 8-22. A command word has the form of a type-3 packet header, but two headers of the manual
contradict its own parameter lists, so the length of a command comes from this table and never from the header.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from amaranth.lib import data

from ctm.rtl.isa.conditional import ConditionalLocation, ConditionalTest
from ctm.rtl.isa.formats import FORMAT, HEIGHT
from ctm.rtl.isa.limits import BASE_ALIGNMENT

RESERVED = data.StructLayout({"reserved": 32})
VALUE = data.StructLayout({"value": 32})
FLAGS = data.StructLayout({"enable": 1, "reserved": 31})
BOUND = data.StructLayout({"bound": 12, "reserved": 20})
ADDRESS = data.StructLayout({"reserved": 11, "base": 21})
INPUT_INDEX = data.StructLayout({"index": 4, "reserved": 28})
OUTPUT_INDEX = data.StructLayout({"index": 4, "reserved": 28})
OUTPUT_MASK = data.StructLayout({"mask": 4, "reserved": 28})
CONDITIONAL_MASK = data.StructLayout({"mask": 1, "reserved": 31})
CONDITION = data.StructLayout({"condition": ConditionalTest, "reserved": 29})
LOCATION = data.StructLayout({"location": ConditionalLocation, "reserved": 31})

BASE_MASK = 0xFFFF_FFFF & ~(BASE_ALIGNMENT - 1)
"""What the machine keeps of a base address."""


@dataclass(frozen=True, kw_only=True)
class Command:
    """One command of the stream."""

    word: int
    name: str
    unit: str
    parameters: Mapping[str, data.StructLayout]
    pipelined: bool
    other_word: int | None = None
    """A second spelling of the command word that means the same."""

    @property
    def words(self) -> tuple[int, ...]:
        """Every spelling of the command word."""
        return (self.word,) if self.other_word is None else (self.word, self.other_word)

    @property
    def opcode(self) -> int:
        """The code in bits 15:8, by which units know the command."""
        return self.word >> 8 & 0xFF

    @property
    def length(self) -> int:
        """Words in the command buffer, the command word included."""
        return 1 + len(self.parameters)


_NOTHING = {"reserved": RESERVED}
_BUFFER = {"base": ADDRESS, "format": FORMAT}


def _command(
    word: int,
    name: str,
    unit: str,
    parameters: Mapping[str, data.StructLayout],
    *,
    pipelined: bool = True,
    other_word: int | None = None,
) -> Command:
    return Command(word=word, name=name, unit=unit, parameters=parameters, pipelined=pipelined, other_word=other_word)


COMMANDS = (
    _command(0xC0010200, "init_perf_counters", "PE", {"flags": FLAGS}, other_word=0xC0000200),
    _command(0xC0000300, "start_perf_counters", "PE", _NOTHING),
    _command(0xC0000400, "stop_perf_counters", "PE", _NOTHING),
    _command(0xC0010500, "read_perf_counters", "PE", {"address": ADDRESS}, pipelined=False, other_word=0xC0000500),
    _command(0xC0000600, "set_cond_val", "PE", {"value": VALUE}),
    _command(0xC0030700, "set_domain", "PE", {"i0": BOUND, "j0": BOUND, "i1": BOUND, "j1": BOUND}),
    _command(0xC0000800, "start_program", "PE", _NOTHING),
    _command(0xC0000900, "wait_for_idle", "PE", _NOTHING),
    _command(0xC0010A00, "set_inst_fmt", "MC", _BUFFER, pipelined=False),
    _command(0xC0030B00, "set_inp_fmt", "MC", {"input": INPUT_INDEX, **_BUFFER, "height": HEIGHT}, pipelined=False),
    _command(0xC0030C00, "set_out_fmt", "MC", {"output": OUTPUT_INDEX, **_BUFFER, "height": HEIGHT}, pipelined=False),
    _command(0xC0020D00, "set_cond_out_fmt", "MC", {**_BUFFER, "height": HEIGHT}, pipelined=False),
    _command(0xC0010E00, "set_constf_fmt", "MC", _BUFFER, pipelined=False),
    _command(0xC0010F00, "set_consti_fmt", "MC", _BUFFER, pipelined=False),
    _command(0xC0011000, "set_constb_fmt", "MC", _BUFFER, pipelined=False),
    _command(0xC0001100, "inv_inst_cache", "MC", _NOTHING),
    _command(0xC0001200, "inv_constf_cache", "MC", _NOTHING),
    _command(0xC0001300, "inv_consti_cache", "MC", _NOTHING),
    _command(0xC0001400, "inv_constb_cache", "MC", _NOTHING),
    _command(0xC0001500, "inv_cond_out_cache", "MC", _NOTHING),
    _command(0xC0001600, "inv_inp_cache", "MC", _NOTHING),
    _command(0xC0001700, "flush_out_cache", "MC", _NOTHING),
    _command(0xC0001800, "flush_cond_out_cache", "MC", _NOTHING),
    _command(0xC0001900, "set_out_mask", "MC", {"mask": OUTPUT_MASK}),
    _command(0xC0001A00, "set_cond_out_mask", "MC", {"conditional_mask": CONDITIONAL_MASK}),
    _command(0xC0001B00, "set_cond_test", "CO", {"condition": CONDITION}),
    _command(0xC0001C00, "set_cond_loc", "CO", {"location": LOCATION}),
)
"""Every command, in the order of the manual's table 3."""

BY_WORD: Mapping[int, Command] = {word: command for command in COMMANDS for word in command.words}
BY_NAME: Mapping[str, Command] = {command.name: command for command in COMMANDS}

"""Decodes commands by the table of commands.

Source: CTM Guide pp. 8-22.
"""

from collections.abc import Callable, Sequence

from amaranth import Cat, Module, Value
from amaranth.lib import data
from amaranth.lib.enum import EnumView

from ctm.rtl.border.commands import OPCODE_BITS, PARAMETERS
from ctm.rtl.draw_config import DrawConfig
from ctm.rtl.isa.commands import COMMANDS, OUTPUT_INDEX, Command
from ctm.rtl.isa.draws import ALL_BY_NAME, INDEX_WORD, IndexFormat
from ctm.rtl.isa.formats import FORMAT, DataFormat, Tiling
from ctm.rtl.isa.limits import ADDRESS_BITS, WORD_BITS
from ctm.rtl.isa.status import Status
from ctm.rtl.lib.views import record

KIND = data.StructLayout({"beside": 1, "mc": 1, "co": 1, "draw": 1, "invalidates": 1, "reports": 1})
"""How a command is executed: beside a program that runs, by the memory controller, by the conditional unit, or as state
of draws; whether it invalidates the image, and whether it reports lost writes. All fields are 0 for other commands."""

_BESIDE = ("set_domain", "set_cond_val", "init_perf_counters", "start_perf_counters", "stop_perf_counters")
_INVALIDATES = ("set_inst_fmt", "inv_inst_cache")
_STATE_OF_DRAWS = ("set_idx_fmt", "set_vport", "set_vport_z", "set_raster")
_OF_DRAWS = (*_STATE_OF_DRAWS, "set_vtx_fmt", "inv_vtx_cache", "start_draw")
"""Commands of draws."""
_OF_GEOMETRY = ("set_ring_fmt", "set_strm_fmt", "read_strm")
"""Those that come with geometry programs."""
_REPORTS = ("flush_out_cache", "flush_cond_out_cache", "wait_for_idle")

COMMAND = data.StructLayout(
    {
        "end": 1,
        "status": Status,
        "address": ADDRESS_BITS,
        "word": WORD_BITS,
        "kind": KIND,
        "opcode": OPCODE_BITS,
        "words": data.ArrayLayout(WORD_BITS, PARAMETERS),
    }
)
"""A command with its parameters, 0 where it has none; address and word are those of its command word.

A status that is not OK is the error that stops the buffer; address and word are the error's. `end` is the buffer's end.
"""

DECODED = data.StructLayout({"is_command": 1, "kind": KIND, "opcode": OPCODE_BITS, "parameters": range(PARAMETERS + 1)})

_CONSTANT_FORMATS = ("set_constf_fmt", "set_consti_fmt", "set_constb_fmt")


def commands_of(stages: DrawConfig) -> tuple[Command, ...]:
    """The commands that a machine has."""
    names = (*_OF_DRAWS * stages.draws, *_OF_GEOMETRY * stages.has_geometry)
    return (*COMMANDS, *(ALL_BY_NAME[name] for name in names))


def decode(m: Module, word: Value, commands: Sequence[Command]) -> data.View:
    """The command of a word, in any of its spellings."""
    decoded = record(DECODED, name="decoded")
    with m.Switch(word):
        for command in commands:
            with m.Case(*command.words):
                m.d.comb += [
                    decoded.is_command.eq(1),
                    decoded.kind.eq(_kind(command)),
                    decoded.opcode.eq(command.opcode),
                    decoded.parameters.eq(len(command.parameters)),
                ]
    return decoded


def _kind(command: Command) -> data.Const:
    kind: data.Const = KIND.const(
        {
            "beside": command.name in _BESIDE,
            "mc": command.unit == "MC",
            "co": command.unit == "CO",
            "draw": command.name in _STATE_OF_DRAWS,
            "invalidates": command.name in _INVALIDATES,
            "reports": command.name in _REPORTS,
        }
    )
    return kind


def is_wrong(opcode: Value, index: Value, word: Value, commands: Sequence[Command], outputs: int) -> Value:
    """Whether a word is illegal as parameter number `index`, from 1 on, of a command; there are so many `outputs`."""
    wrong = []
    for command in commands:
        for number, name in enumerate(command.parameters, start=1):
            rule = _rule(command, name, outputs)
            if rule is not None:
                wrong.append((opcode == command.opcode) & (index == number) & rule(word))
    return Cat(wrong).any()


def _rule(command: Command, parameter: str, outputs: int) -> Callable[[Value], Value] | None:
    """The test for an illegal parameter; None if all values are legal."""
    if parameter == "output":
        return lambda word: OUTPUT_INDEX(word).index >= outputs
    if parameter == "index_format":
        return lambda word: Value.cast(INDEX_WORD(word).format) > IndexFormat.UINT32.value
    if parameter != "format":
        return None
    if command.name == "set_inst_fmt":
        return lambda word: word.any()
    if command.name in _CONSTANT_FORMATS:
        return lambda word: _is_tiled(FORMAT(word).tiling)
    return lambda word: Value.cast(FORMAT(word).format) > DataFormat.FLOAT32_4.value


def _is_tiled(tiling: EnumView) -> Value:
    return (tiling == Tiling.TILED) | (tiling == Tiling.TILED_INP_2X2)

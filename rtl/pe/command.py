"""A command as the reader hands it on, and what the table of commands says of a word.

Source: CTM Guide pp. 8-22.
"""

from collections.abc import Callable

from amaranth import Cat, Module, Value
from amaranth.lib import data
from amaranth.lib.enum import EnumView

from ctm.rtl.border.commands import OPCODE_BITS, PARAMETERS
from ctm.rtl.isa.commands import COMMANDS, OUTPUT_INDEX, Command
from ctm.rtl.isa.formats import FORMAT, DataFormat, Tiling
from ctm.rtl.isa.limits import ADDRESS_BITS, OUTPUTS, WORD_BITS
from ctm.rtl.isa.status import Status
from ctm.rtl.lib.views import record

KIND = data.StructLayout({"beside": 1, "mc": 1, "co": 1, "invalidates": 1, "reports": 1})
"""How a command is executed: beside a program that runs, by the memory controller, by the conditional unit; whether it
makes the machine forget its image, and whether it reports lost writes. All is 0 for others, and where there is no
command."""

_BESIDE = ("set_domain", "set_cond_val", "init_perf_counters", "start_perf_counters", "stop_perf_counters")
_FORGETS = ("set_inst_fmt", "inv_inst_cache")
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

With a status that is not OK it is no command but why the buffer stops here, with the address and word of that error.
With `end` the buffer is over.
"""

DECODED = data.StructLayout({"known": 1, "kind": KIND, "opcode": OPCODE_BITS, "parameters": range(PARAMETERS + 1)})

_CONSTANT_FORMATS = ("set_constf_fmt", "set_consti_fmt", "set_constb_fmt")


def decode(m: Module, word: Value) -> data.View:
    """The command that a word is; every spelling counts."""
    decoded = record(DECODED, name="decoded")
    with m.Switch(word):
        for command in COMMANDS:
            with m.Case(*command.words):
                m.d.comb += [
                    decoded.known.eq(1),
                    decoded.kind.eq(_kind(command)),
                    decoded.opcode.eq(command.opcode),
                    decoded.parameters.eq(len(command.parameters)),
                ]
    return decoded


def _kind(command: Command) -> data.Const:
    return KIND.const(
        {
            "beside": command.name in _BESIDE,
            "mc": command.unit == "MC",
            "co": command.unit == "CO",
            "invalidates": command.name in _FORGETS,
            "reports": command.name in _REPORTS,
        }
    )


def is_wrong(opcode: Value, place: Value, word: Value) -> Value:
    """Whether a word is not allowed as parameter number `place`, from 1 on, of a command."""
    wrong = []
    for command in COMMANDS:
        for number, name in enumerate(command.parameters, start=1):
            rule = _rule(command, name)
            if rule is not None:
                wrong.append((opcode == command.opcode) & (place == number) & rule(word))
    return Cat(wrong).any()


def _rule(command: Command, parameter: str) -> Callable[[Value], Value] | None:
    """What makes a parameter wrong; None for one that may have any value."""
    if parameter == "output":
        return lambda word: OUTPUT_INDEX(word).index >= OUTPUTS
    if parameter != "format":
        return None
    if command.name == "set_inst_fmt":
        return lambda word: word.any()
    if command.name in _CONSTANT_FORMATS:
        return lambda word: _is_tiled(FORMAT(word).tiling)
    return lambda word: Value.cast(FORMAT(word).format) > DataFormat.FLOAT32_4.value


def _is_tiled(tiling: EnumView) -> Value:
    return (tiling == Tiling.TILED) | (tiling == Tiling.TILED_INP_2X2)

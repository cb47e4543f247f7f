"""What is in an R5xx executable, for people."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ctm.rtl.isa.r5xx.instruction import COMMON, FC_ADDR, FC_INST
from ctm.rtl.isa.r5xx.opcodes import InstructionType, JumpFunction
from ctm.rtl.isa.word import unpack
from ctm.sim.elf.r5xx.executable import Executable, Instruction
from ctm.sim.elf.r5xx.registers import Registers
from ctm.sim.elf.r5xx.usage import usage

_EVEN_ENTRIES = JumpFunction.NOT_BOOLEAN.value
"""Entries of JUMP_FUNC for a boolean that is false; the entry for true is the next one."""


def describe(executable: Executable) -> dict[str, Any]:
    """What is in an executable; only values that JSON has.

    `temporaries` is how many the program has, `temporaries_used` those that instructions name; `int_constants`,
    `inputs` and so on come from its notes, `bool_constants` from its code.
    """
    kinds = Counter(InstructionType(unpack(COMMON, words[0])["type"]) for words in executable.instructions)
    temporaries, constants = Registers(), Registers()
    for use in map(usage, executable.instructions):
        temporaries, constants = temporaries | use.reads | use.writes, constants | use.constants
    notes = executable.notes
    return {
        "instructions": len(executable.instructions),
        "instructions_by_type": {kind.name.lower(): kinds[kind] for kind in InstructionType},
        "start": executable.start,
        "end": executable.end,
        "offset": executable.offset,
        "temporaries": executable.highest_temporary + 1,
        "temporaries_used": sorted(temporaries.direct),
        "relative_temporaries": temporaries.relative,
        "inputs": list(notes.inputs),
        "outputs": list(notes.outputs),
        "conditional_output": notes.conditional_output,
        "conditional_value": "program" if executable.conditional_from_program else "PE",
        "float_constants": list(notes.float_constants),
        "relative_constants": constants.relative,
        "int_constants": list(notes.int_constants),
        "bool_constants": _bool_constants(executable.instructions),
        "early_exit": notes.early_exit,
        "flow_control": "full" if executable.full_flow_control else "partial",
        "zero_times_anything": executable.zero_times_anything,
        "uncached_writes": executable.uncached_writes,
        "state": {
            "FG_DEPTH_SRC": f"0x{executable.fg_depth_src:08x}",
            "US_CONFIG": f"0x{executable.us_config:08x}",
            "US_FC_CTRL": f"0x{executable.us_fc_ctrl:08x}",
            "US_W_FMT": f"0x{executable.us_w_fmt:08x}",
        },
    }


def _bool_constants(instructions: Sequence[Instruction]) -> list[int]:
    """Boolean constants that decide a jump."""
    found = set()
    for words in instructions:
        if unpack(COMMON, words[0])["type"] == InstructionType.FC.value:
            function = unpack(FC_INST, words[2])["jump_func"]
            if function & _EVEN_ENTRIES != function >> 1 & _EVEN_ENTRIES:
                found.add(unpack(FC_ADDR, words[3])["bool_addr"])
    return sorted(found)

"""The R5xx program in an executable, with some checks for people; CTM Guide pp. 45-49."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ctm.rtl.isa.executable import NoteType
from ctm.rtl.isa.r5xx import program as r5xx
from ctm.rtl.isa.word import unpack
from ctm.sim.elf.constants import constants_of
from ctm.sim.elf.container.reader import Container, Note
from ctm.sim.elf.container.tool_notes import ToolNote
from ctm.sim.elf.error import ElfError
from ctm.sim.elf.lines import lines_of
from ctm.sim.elf.notes import Notes
from ctm.sim.elf.r5xx.executable import Executable

_LISTS: dict[NoteType | ToolNote, str] = {
    NoteType.INPUTS: "inputs",
    NoteType.OUTPUTS: "outputs",
    NoteType.FLOAT32_CONSTANTS: "float_constants",
    NoteType.INT32_CONSTANTS: "int_constants",
}
_FLAGS: dict[NoteType | ToolNote, str] = {
    NoteType.CONDITIONAL_OUTPUT: "conditional_output",
    NoteType.EARLY_EXIT: "early_exit",
}


def executable_of(container: Container) -> Executable:
    """The program in a container of its kind.

    Raises
    ------
    ElfError
        Its notes make no sense.
    """
    words = dict(zip(r5xx.PROGRAM_INFORMATION, container.information, strict=True))
    address = unpack(r5xx.US_CODE_ADDR, words["US_CODE_ADDR"])
    return Executable(
        instructions=container.code,
        start=address["start"],
        end=address["end"],
        offset=unpack(r5xx.US_CODE_OFFSET, words["US_CODE_OFFSET"])["offset"],
        highest_temporary=unpack(r5xx.US_PIXSIZE, words["US_PIXSIZE"])["highest_temporary"],
        fg_depth_src=words["FG_DEPTH_SRC"],
        us_config=words["US_CONFIG"],
        us_fc_ctrl=words["US_FC_CTRL"],
        us_w_fmt=words["US_W_FMT"],
        uncached_writes=bool(unpack(r5xx.UMRT, words["UMRT"])["uncached_writes"]),
        notes=_notes(container.notes),
        lines=lines_of(container.notes, len(container.code)),
        own_constants=constants_of(container.notes),
    )


def _notes(found: Mapping[NoteType | ToolNote, Note]) -> Notes:
    notes = Notes()
    for kind, note in found.items():
        change: dict[str, Any] = {}
        if kind in _LISTS:
            change = {_LISTS[kind]: note.words}
        elif kind in _FLAGS:
            if len(note.words) != 1 or note.words[0] > 1:
                raise ElfError(f"the note {kind.name} is not one word, 0 or 1", note.offset)
            change = {_FLAGS[kind]: bool(note.words[0])}
        try:
            notes = replace(notes, **change)
        except ValueError as error:
            raise ElfError(f"in the note {kind.name}: {error}", note.offset) from None
    return notes

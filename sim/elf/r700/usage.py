"""What the code of an R700 program uses, as far as its words tell.

Whatever can be reached counts, whatever masks and constants are; what a register or an address register chooses cannot
be known.
"""

from dataclasses import dataclass, field

from ctm.rtl.isa.draws import DRAW_OUTPUTS, VERTEX_BUFFERS
from ctm.rtl.isa.limits import FLOAT_CONSTANTS, INPUTS
from ctm.rtl.isa.r700 import exports, fetch
from ctm.rtl.isa.r700.components import ComponentSelect
from ctm.rtl.isa.r700.control_flow import CfOperation, Condition
from ctm.rtl.isa.r700.fetch import TextureOperation, VertexOperation
from ctm.rtl.isa.r700.limits import FETCH_UNITS
from ctm.rtl.isa.word import unpack
from ctm.sim.elf.r700.operands import constant_rows
from ctm.sim.elf.r700.words import TEXTURE_CLAUSES, Units, Word, words

_COUNTED_LOOPS = (CfOperation.LOOP_START.value, CfOperation.LOOP_START_NO_AL.value)
_BOOLEAN = (Condition.BOOL.value, Condition.NOT_BOOL.value)
_OF_NO_INPUT = tuple(operation.value for operation in fetch.WITHOUT_INPUT)
_UNSCALED = (TextureOperation.LD.value, TextureOperation.GET_TEXTURE_RESINFO.value)


@dataclass
class Usage:
    """Numbers of what is used."""

    inputs: set[int] = field(default_factory=set)
    scaled_inputs: set[int] = field(default_factory=set)
    """Inputs that are looked up with normalised coordinates."""
    outputs: set[int] = field(default_factory=set)
    """Targets of exports."""
    depth: bool = False
    """Whether some export is to the conditional value."""
    float_constants: set[int] = field(default_factory=set)
    int_constants: set[int] = field(default_factory=set)
    bool_constants: set[int] = field(default_factory=set)
    vertex_buffers: set[int] = field(default_factory=set)


def usage(
    code: Units, start: int, texture_base: int, fetch_start: int | None = None, first_buffer: int | None = None
) -> Usage:
    """What a program uses, its fetch subroutine included; `first_buffer` is BUFFER_ID of its vertex buffer 0."""
    found = Usage()
    for word in words(code, start, fetch_start):
        if word.is_export:
            _add_export(found, word)
        elif word.is_alu:
            found.float_constants |= constant_rows(code, word) & set(range(FLOAT_CONSTANTS))
        elif word.units:
            at = word.fields["addr"]
            for first, second in code[at : at + word.units : FETCH_UNITS]:
                in_texture_clause = word.fields["cf_inst"] in TEXTURE_CLAUSES
                _add_fetch(found, first, second, texture_base, in_texture_clause=in_texture_clause)
                if first_buffer is not None:
                    _add_vertex_fetch(found, first, first_buffer)
        else:
            _add_flow(found, word)
    return found


def _add_export(found: Usage, word: Word) -> None:
    if not word.is_pixel_export:
        return
    if all(word.fields[f"sel_{channel}"] == ComponentSelect.MASK.value for channel in "xyzw"):
        return
    first = word.fields["array_base"]
    found.depth = found.depth or first == exports.COMPUTED_DEPTH
    found.outputs |= set(range(first, first + word.fields["burst_count"] + 1)) & set(range(DRAW_OUTPUTS))


def _add_flow(found: Usage, word: Word) -> None:
    if word.fields["cf_inst"] in _COUNTED_LOOPS:
        found.int_constants.add(word.fields["cf_const"])
    if word.fields["cond"] in _BOOLEAN:
        found.bool_constants.add(word.fields["cf_const"])


def _add_vertex_fetch(found: Usage, first: int, first_buffer: int) -> None:
    fields = unpack(fetch.VTX_DWORD0, first)
    index = fields["buffer_id"] - first_buffer
    if fields["vtx_inst"] == VertexOperation.FETCH.value and 0 <= index < VERTEX_BUFFERS:
        found.vertex_buffers.add(index)


def _add_fetch(found: Usage, first: int, second: int, texture_base: int, *, in_texture_clause: bool) -> None:
    operation = unpack(fetch.FETCH, first)["inst"]
    if operation == VertexOperation.FETCH.value:
        # Buffer 0 is the float constants.
        resource = unpack(fetch.VTX_DWORD0, first)["buffer_id"] or -1
        scaled = False
    elif operation == VertexOperation.MEM.value or not in_texture_clause or operation in _OF_NO_INPUT:
        return
    else:
        resource = unpack(fetch.TEX_DWORD0, first)["resource_id"]
        coordinates = unpack(fetch.TEX_DWORD1, second)
        scaled = bool(coordinates["coord_type_x"] | coordinates["coord_type_y"]) and operation not in _UNSCALED
    index = resource - texture_base
    if resource >= 0 and 0 <= index < INPUTS:
        found.inputs.add(index)
        if scaled:
            found.scaled_inputs.add(index)

"""Vertex fetches: elements by their index, of the float constants or of an input as a linear array."""

import numpy as np

from ctm.rtl.isa.limits import CHANNELS, FLOAT_CONSTANTS
from ctm.sim.golden.dpp.batch import Floats, Integers, Mask
from ctm.sim.golden.dpp.constants import Constants
from ctm.sim.golden.dpp.inputs import Inputs
from ctm.sim.golden.mc.elements import clamp_index
from ctm.sim.golden.r700.instruction import Vertex
from ctm.sim.golden.r700.texture import read_elements

_ROW_WORDS = CHANNELS
_WORDS = _ROW_WORDS * FLOAT_CONSTANTS


def fetch(
    instruction: Vertex,
    source: Floats,
    inputs: Inputs,
    constants: Constants,
    executing: Mask,
    *,
    first_row: int = 0,
) -> tuple[Floats, list[Integers]]:
    """Execute a fetch for all pixels; arguments, result and errors are those of a texture instruction's `fetch`.

    `first_row` is the row of the float constants that is the program's row 0.
    """
    index = source[instruction.component].view(np.uint32).astype(np.int64)
    if instruction.input is None:
        return _constants(instruction, index, constants, first_row, executing), []
    buffer = inputs.buffers[instruction.input]
    if buffer.width_limit == 0:
        return np.zeros((CHANNELS, index.size), np.float32), []
    x = clamp_index(index % buffer.pitch, buffer.width_limit)
    y = clamp_index(index // buffer.pitch, buffer.height_limit)
    return read_elements(inputs, instruction.input, x, y, executing)


def _constants(instruction: Vertex, index: Integers, constants: Constants, first_row: int, executing: Mask) -> Floats:
    """Constants as an array of words: an element that is not there as a whole is 0 in all of its channels."""
    first = _ROW_WORDS * (first_row + index) + instruction.offset // 4
    exists = first + instruction.channels <= _WORDS
    components = np.zeros((CHANNELS, index.size), np.uint32)
    components[CHANNELS - 1] = instruction.one
    for channel in range(instruction.channels):
        word = first + channel
        rows = np.where(exists, word // _ROW_WORDS, -1)
        found = constants.float_rows(rows, executing).view(np.uint32)
        components[channel] = np.take_along_axis(found, word[None] % _ROW_WORDS, axis=0)[0]
    return components.view(np.float32)

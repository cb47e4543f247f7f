"""What a compiled program is given and gives back: a table of 64-bit slots, the same for all programs.

A slot holds a pointer, a whole number, or the bits of a float32.
"""

from enum import IntEnum, auto

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.draws import DRAW_OUTPUTS
from ctm.rtl.isa.formats import LINEAR_ROW_ALIGNMENT, TILE_LOG2
from ctm.rtl.isa.limits import INPUTS
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.memory import Memory

UNITS = 8
"""Kinds of instructions that can be counted."""


class Slot(IntEnum):
    """What is given."""

    TABLE = 0
    """Points at the transcendental unit's table."""
    CONSTANTS = auto()
    """Points at the float constants."""
    INTEGERS = auto()
    """Points at the int constants: count, start and step of each, 32 bits."""
    BOOLEANS = auto()
    """The bool constants, a bit each."""
    CONDITIONAL_VALUE = auto()
    I0 = auto()
    J0 = auto()
    I1 = auto()
    J1 = auto()
    """The domain."""
    ORIGIN_I = auto()
    ORIGIN_J = auto()
    """Point at the coordinates of each wavefront's first pixel, 32 bits."""
    COVERED = auto()
    """Points at a byte for each pixel, where a conditional test chose them."""
    VECTORS = auto()
    """Vectors to run; the last one is filled up with wavefronts outside the domain."""
    TAKEN = auto()
    """Points at the number of vectors that threads have taken, 32 bits: `COUNTER` of one of them."""
    COUNTER = auto()
    SHARE = auto()
    """Vectors that a thread takes at once."""
    LIMIT = auto()
    """Instructions that a vector may execute; 0 stops all."""
    RETURNED = auto()
    """Points at 32 bits for each vector: the numbers of those that were given back."""
    RETURNED_COUNT = auto()
    CODE = auto()
    """Points at the code that the table is for."""
    EDGES = auto()
    """Of a draw: points at three edge values of each lane as floats, [vectors, 3, lanes]."""
    SHAPES = auto()
    """Points at the number of each vector's shape, 32 bits."""
    VERTICES = auto()
    """Points at the numbers of each shape's vertices 0, 1 and 2 and the provoking one, 32 bits."""
    RECORDS = auto()
    PARAMETERS = auto()
    """Point at the record of each shape, and at the parameters of each vertex, floats."""
    DEPTH_LOW = auto()
    DEPTH_HIGH = auto()
    """The range of depth."""
    THREADS = auto()
    """Of a draw's programs in front of the raster: points at what threads begin with, read and leave."""
    NANOSECONDS = auto()
    """How long it ran."""
    WAVEFRONTS = auto()
    LANE_INSTRUCTIONS = auto()
    """Counted: wavefronts that ran, and active lanes of each instruction; after them instructions of each unit."""
    ISSUED = auto()


class BufferSlot(IntEnum):
    """What is given of a buffer."""

    MEMORY = 0
    """Points at the 4 GiB that it lies in."""
    BASE = auto()
    STRIDE = auto()
    """Bytes of a row, or tiles of one."""
    WIDTH_LIMIT = auto()
    HEIGHT_LIMIT = auto()
    SCALE_X = auto()
    SCALE_Y = auto()
    SIZE = auto()


CONDITIONAL = INPUTS + DRAW_OUTPUTS
"""Number of the conditional buffer, after inputs and outputs."""
_BUFFERS = Slot.ISSUED + UNITS
SLOTS = _BUFFERS + (CONDITIONAL + 1) * BufferSlot.SIZE

Table = npt.NDArray[np.uint64]


def output_number(output: int) -> int:
    """Number of an output's buffer."""
    return INPUTS + output


def buffer_slot(number: int, slot: BufferSlot) -> int:
    """Index of a buffer's parameter in the table."""
    return int(_BUFFERS + number * BufferSlot.SIZE + slot)


def set_buffer(table: Table, number: int, buffer: Buffer, memory: Memory) -> None:
    """Describe a buffer."""
    size = buffer.element.element_bytes
    stride = buffer.pitch * size // LINEAR_ROW_ALIGNMENT * LINEAR_ROW_ALIGNMENT
    if buffer.is_tiled:
        stride = buffer.pitch >> TILE_LOG2[size][0]
    first = buffer_slot(number, BufferSlot.MEMORY)
    table[first : first + BufferSlot.SIZE] = (
        memory.bytes.ctypes.data, buffer.base, stride, buffer.width_limit, buffer.height_limit, buffer.pitch,
        buffer.scale_height,
    )  # fmt: skip

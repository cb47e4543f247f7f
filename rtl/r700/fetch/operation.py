"""Fetches and exports as the fetch unit executes them: their tasks and operands.

Source: R700-Family Instruction Set Architecture, chapter 5; docs/design/r700-core.md.
"""

from collections.abc import Iterable

from amaranth import Cat, Value, signed
from amaranth.lib import data, enum

from ctm.rtl.border.shading import BUFFERS
from ctm.rtl.isa.limits import CHANNELS, INPUTS, REGISTER_BITS
from ctm.rtl.r700.fetch.vertex_format import VERTEX_FORMAT

_OFFSET_BITS = 5


class Task(enum.Enum, shape=4):
    """The task of a micro-op of a fetch or an export.

    SAMPLE: fetches an element by floats, LOAD by integers. SIZE: gives an input's size. GRADIENT: differences in a
    quad. CONSTANTS: elements of the float constants. ELEMENT: fetches an element of an input by its number. SHARE_READ,
    SHARE_WRITE: the local data share. AREA: reads elements of an area. NOTHING: no effect. Tasks of exports: EXPORT, to
    output registers; ADDRESSES, finds those of elements of an area; WRITE, writes these. Tasks of a draw's
    vertices: VERTEX, reads elements of a vertex buffer or ring; VECTOR, exports vectors; ITEMS, finds elements of the
    items that threads write, for WRITE.
    """

    NOTHING = 0
    SAMPLE = 1
    LOAD = 2
    SIZE = 3
    GRADIENT = 4
    CONSTANTS = 5
    ELEMENT = 6
    SHARE_READ = 7
    SHARE_WRITE = 8
    AREA = 9
    EXPORT = 10
    ADDRESSES = 11
    WRITE = 12
    VERTEX = 13
    VECTOR = 14
    ITEMS = 15


INPUT_FETCHES = Task.SAMPLE, Task.LOAD, Task.ELEMENT
"""Tasks that read an input."""


def is_among(task: enum.EnumView, tasks: Iterable[Task]) -> Value:
    """Whether a task is one of these."""
    found: Value = Cat(task == each for each in tasks).any()
    return found


ACCESS = data.StructLayout({"scratch": 1, "indexed": 1, "base": 13, "size": 12, "element": 2})
"""An instruction's access: elements `base` plus an index of each pixel's, if it is `indexed`, of `element` + 1 dwords;
`base` + `size` is the last one. Elements of the scratch are vectors, and each pixel has its own."""

BUFFER_FETCH = data.StructLayout(
    {"buffer": range(BUFFERS), "offset": 16, "by_instance": 1, "element": VERTEX_FORMAT, "channels": range(5)}
)
"""A fetch from a vertex buffer or ring: index * stride + `offset`, the first instance in the index if `by_instance`."""
FETCH = data.StructLayout(
    {
        "task": Task,
        "illegal": 1,
        "input": range(INPUTS),
        "source": REGISTER_BITS,
        "source_relative": 1,
        "destination": REGISTER_BITS,
        "destination_relative": 1,
        "selects": data.ArrayLayout(3, CHANNELS),
        "coordinates": data.ArrayLayout(3, CHANNELS),
        "offsets": data.ArrayLayout(signed(_OFFSET_BITS), 2),
        "normalised": 2,
        "vertical": 1,
        "offset": 14,
        "channels": 3,
        "one_is_float": 1,
        "burst": 4,
        "index": 8,
        "stride": 9,
        "broadcasts": 1,
        "selects_word": 1,
        "access": ACCESS,
        "vertex": BUFFER_FETCH,
    }
)
"""A fetch. `selects` are by `ComponentSelect`, `coordinates` by `SourceSelect`; offsets are half texels.

An element of the constants begins `offset` words after the row that the first coordinate names, and has `channels`; a
missing last one is a one. `burst` is one less than the number of registers of an access to the data share or of a read
of an area. In the data share `index` and `stride` give the address of pixels' writes; `offset` is added to the address
of reads. With `broadcasts` all pixels read the address of the first active one, with `selects_word` one dword and not a
row. `access` is the access to an area, `vertex` that to a vertex buffer."""

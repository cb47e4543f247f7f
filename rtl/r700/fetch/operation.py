"""The operations of the fetch unit: the task and operands of a fetch or an export.

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

    NOTHING has no effect. Tasks of fetches: SAMPLE fetches an element of an input by coordinates that are floats, LOAD
    by integers, ELEMENT by its number. SIZE gives an input's size, GRADIENT differences in a quad. CONSTANTS reads
    elements of the float constants, AREA those of an area. SHARE_READ and SHARE_WRITE access the local data share.

    Tasks of exports: EXPORT writes output registers. ADDRESSES finds the elements of an area that the next micro-op, a
    WRITE, writes. Tasks of a draw's vertices: VERTEX reads elements of a vertex buffer or ring, VECTOR exports vectors.
    ITEMS finds the elements of threads' items, which a WRITE writes.
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
"""Tasks that read an input in memory."""


def is_among(task: enum.EnumView, tasks: Iterable[Task]) -> Value:
    """Whether `task` is one of `tasks`."""
    found: Value = Cat(task == each for each in tasks).any()
    return found


ACCESS = data.StructLayout({"scratch": 1, "indexed": 1, "base": 13, "size": 12, "element": 2})
"""An access to an area, or with `scratch` to the scratch. Elements have `element` + 1 dwords. A pixel's element is
`base`, plus its index if the access is `indexed`; `base` + `size` is the last element that exists. Elements of the
scratch are vectors, and each pixel has its own."""

BUFFER_FETCH = data.StructLayout(
    {"buffer": range(BUFFERS), "offset": 16, "by_instance": 1, "element": VERTEX_FORMAT, "channels": range(5)}
)
"""A fetch from a vertex buffer or ring: of `channels` channels of `element`, at byte index * stride + `offset`; with
`by_instance` the first instance is added to the index."""
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
"""A fetch instruction; fields that its task does not use are undefined.

`source` and `destination` are registers, relative to aL or not. `selects` has the component, by `ComponentSelect`, that
each channel of the destination gets (of a write to the data share: each dword of a row). `coordinates` are components
of the source, by `SourceSelect`, `offsets` half texels; `normalised` has a bit for x and one for y. A gradient is
`vertical` or horizontal. `burst` is one less than the number of registers of an access to the data share or of a read
of an area.

An element of the constants begins `offset` words after the row that the first coordinate names, and has `channels`
channels; of those that it lacks the last one is 1, a float if `one_is_float`, and the others are 0. In the data share a
quad writes at `index` plus `stride` times its number; a pixel reads `offset` after the address in its source. With
`broadcasts` all pixels read what the first active one reads, with `selects_word` one dword and not a row. `access` is
the access to an area, `vertex` that to a vertex buffer or ring."""

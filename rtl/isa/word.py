"""Packing and unpacking of words by their layouts, in plain integers.

Codes stay integers: a word may hold a code that is illegal, and a tool must be able to show and write it.
"""

from amaranth.lib import data

_Fields = tuple[tuple[str, int, int], ...]
_known: dict[int, tuple[data.StructLayout, _Fields]] = {}
"""The fields of each layout, which are slow to compute; the layout is kept so that its identity is not reused."""


def fields(layout: data.StructLayout) -> _Fields:
    """(name, offset, width) of every field of `layout`, the lowest first; widths and offsets in bits."""
    if id(layout) not in _known:
        _known[id(layout)] = layout, tuple((str(name), field.offset, field.width) for name, field in layout)
    return _known[id(layout)][1]


def pack(layout: data.StructLayout, **values: int) -> int:
    """The word with `values` in its fields and 0 in all others.

    Raises
    ------
    KeyError
        A name is no field of the layout.
    ValueError
        A value does not fit its field.
    """
    word = 0
    for name, value in values.items():
        field = layout[name]
        if not 0 <= value < 1 << field.width:
            raise ValueError(f"{name} must be 0..{(1 << field.width) - 1}, not {value}")
        word |= value << field.offset
    return word


def unpack(layout: data.StructLayout, word: int) -> dict[str, int]:
    """Every field of `word`, reserved ones included, so that `pack` gives the same word again."""
    return {name: word >> offset & (1 << width) - 1 for name, offset, width in fields(layout)}


def replace(layout: data.StructLayout, word: int, **values: int) -> int:
    """`word` with some of its fields changed."""
    return pack(layout, **{**unpack(layout, word), **values})

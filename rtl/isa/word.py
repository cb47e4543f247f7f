"""Packing and unpacking of words by their layouts, in plain integers.

Codes stay integers: a word may hold a code that is illegal, and a tool must be able to show and write it.
"""

from collections.abc import Iterator

from amaranth.lib import data


def fields(layout: data.StructLayout) -> Iterator[tuple[str, int, int]]:
    """Yield (name, offset, width) of every field of `layout`, the lowest first; widths and offsets in bits."""
    for name, field in layout:
        yield str(name), field.offset, field.width


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

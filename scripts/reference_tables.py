"""Tables of words and codes as Markdown."""

from collections.abc import Iterable, Iterator

from amaranth.lib import data, enum


def table(header: Iterable[str], rows: Iterable[Iterable[object]]) -> Iterator[str]:
    """The lines of a table."""
    columns = list(header)
    yield "| " + " | ".join(columns) + " |"
    yield "|" + "---|" * len(columns)
    for row in rows:
        yield "| " + " | ".join(str(cell) for cell in row) + " |"
    yield ""


def bits(field: data.Field) -> str:
    """Where a field is in its word."""
    low, high = field.offset, field.offset + field.width - 1
    return str(low) if field.width == 1 else f"{high}:{low}"


def _codes(shape: object) -> str:
    return f"`{shape.__name__}`" if isinstance(shape, type) and issubclass(shape, enum.Enum) else ""


def layout_table(layout: data.StructLayout) -> Iterator[str]:
    """The fields of a word."""
    rows = [(bits(field), name, _codes(field.shape)) for name, field in layout]
    yield from table(("bits", "field", "codes"), rows)


def codes_tables(every: Iterable[type[enum.Enum]]) -> Iterator[str]:
    """The members of each enumeration."""
    for codes in every:
        summary = (codes.__doc__ or "").splitlines()[0]
        yield f"### {codes.__name__}\n\n{summary}\n"
        yield from table(("code", "name"), ((member.value, member.name) for member in codes))

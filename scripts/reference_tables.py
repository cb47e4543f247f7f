"""Tables of words and codes as Markdown."""

from collections.abc import Iterable, Iterator

from amaranth.lib import data, enum

from ctm.rtl.isa.commands import Command


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


def commands_tables(commands: Iterable[Command]) -> Iterator[str]:
    """Commands, and the fields of their parameters."""
    every = list(commands)
    rows = [
        (
            " or ".join(f"`{word:08X}`" for word in command.words), command.name, command.unit,
            ", ".join(command.parameters), "yes" if command.pipelined else "no",
        )
        for command in every
    ]  # fmt: skip
    yield from table(("word", "command", "unit", "parameters", "pipelined"), rows)
    yield "### Parameters\n"
    layouts = {name: layout for command in every for name, layout in command.parameters.items()}
    fields = [
        [f"{field_name} {bits(field)}" for field_name, field in layout if not field_name.startswith("reserved")]
        for layout in layouts.values()
    ]
    rows_of_fields = [(name, ", ".join(has) or "ignored") for name, has in zip(layouts, fields, strict=True)]
    yield from table(("parameter", "fields"), rows_of_fields)

"""Parses what may follow an instruction: options with or without a value, and overrides of fields."""

from collections.abc import Callable, Mapping

from ctm.sim.assembler.cursor import Cursor
from ctm.sim.assembler.r700.form import Draft, Form
from ctm.sim.assembler.r700.syntax import Overrides
from ctm.sim.assembler.tokens import Kind

Option = Callable[[Cursor], None]
"""Parses what follows an option's name."""


def parse_options(cursor: Cursor, options: Mapping[str, Option]) -> frozenset[str]:
    """Parse options, by their names in lower case, up to the overrides or the end; gives those that were there."""
    written: set[str] = set()
    while not cursor.at_end and not cursor.next_is("{"):
        cursor.expand_alias()
        position, name = cursor.position, cursor.token.text.lower()
        if cursor.token.kind is not Kind.NAME or name not in options:
            known = ", ".join(option.upper() for option in options)
            cursor.fail(f"expected an option, not {cursor.described()}; there are: {known}")
        if name in written:
            cursor.fail_at(f"{name.upper()} was written before", position)
        cursor.take()
        options[name](cursor)
        written.add(name)
    return frozenset(written)


def in_parentheses(parse: Option) -> Option:
    """An option whose value stands in parentheses."""

    def option(cursor: Cursor) -> None:
        cursor.expect("(")
        parse(cursor)
        cursor.expect(")")

    return option


def parse_code(cursor: Cursor, names: Mapping[int, str], limit: int, what: str) -> int:
    """A code by its name or its number."""
    cursor.expand_alias()
    if cursor.token.kind is Kind.NUMBER:
        return cursor.integer(what, limit)
    return cursor.choose({name.lower(): code for code, name in names.items()}, what)


def flag_option(draft: Draft, field: str) -> Option:
    """An option that sets a field of one bit."""

    def option(cursor: Cursor) -> None:
        draft.set(field, 1)

    return option


def number_option(draft: Draft, field: str, what: str, less: int = 0) -> Option:
    """An option with a number, of which `less` is taken off."""

    def option(cursor: Cursor) -> None:
        position = cursor.position
        value = cursor.integer(what, draft.form.limit(field) + less)
        if value < less:
            cursor.fail_at(f"{what} must be {less} or more", position)
        draft.set(field, value - less)

    return in_parentheses(option)


def code_option(draft: Draft, field: str, names: dict[int, str], what: str) -> Option:
    """An option with a code, by its name or its number."""

    def option(cursor: Cursor) -> None:
        draft.set(field, parse_code(cursor, names, draft.form.limit(field), what))

    return in_parentheses(option)


def parse_overrides(cursor: Cursor, form: Form) -> Overrides:
    """Parse `{field=value, word3.field=value}` if it is there, and the end of the statement."""
    found: list[tuple[str, int]] = []
    if cursor.accept("{"):
        while True:
            position = cursor.position
            name = cursor.expect_name("a field's name").text.lower()
            if cursor.token.kind is Kind.DOT:
                name += cursor.take().text.lower()
            if name not in form.fields:
                known = ", ".join(form.fields)
                cursor.fail_at(f"there is no field {name} in this {form.name}; there are: {known}", position)
            cursor.expect("=")
            found.append((name, cursor.integer(f"the field {name}", form.limit(name))))
            if cursor.accept(",") is None:
                break
        cursor.expect("}")
    cursor.expect_end()
    return tuple(found)

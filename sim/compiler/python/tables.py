"""Tables of a file, and tuples, whose items are chosen by a computed index."""

from ctm.sim.compiler.python.error import Problem
from ctm.sim.compiler.python.signedness import table_element
from ctm.sim.compiler.python.values import Items, Row, Thing, Type, Value, converted

_LONGEST = 32
"""Items of a table that are chosen from by comparisons where an index is computed."""


def table(text: str, name: str, element: Type, values: list[Value]) -> tuple[Row, str]:
    """A table by its name in C and the user's, and its definition in C.

    A short one is a function that chooses, level by level, between neighbours; so no core needs memory for it. Of a
    longer one the compiler has to know each index, or it names the table.
    """
    numbers = tuple(each.constant for each in values if each.constant is not None)
    row = Row(text, element, len(values), numbers, is_function=len(values) <= _LONGEST)
    items = [converted(each, element) for each in values]
    if row.is_function:
        return row, f"static {element.c} {text}(int k) {{ {_choice(text, element, items)} }}"
    label = f' __asm("table.{name}.{text[1:]}")' if name.isascii() else ""
    return row, f"static const {element.c} {text}[{len(items)}]{label} = {{{', '.join(items)}}};"


def _choice(text: str, element: Type, items: list[str]) -> str:
    """Statements that return item k: each compares k once, and no item waits for more than log2 of their number."""
    lines, width = [], 1
    while len(items) > 1:
        chosen = []
        for position in range(0, len(items) - 1, 2):
            name = f"{text}_{width}_{position}"
            lower, upper = items[position : position + 2]
            lines.append(f"{element.c} {name} = k < {(position + 1) * width} ? {lower} : {upper};")
            chosen.append(name)
        items, width = [*chosen, *items[len(chosen) * 2 :]], 2 * width
    return " ".join([*lines, f"return {items[0]};"])


def item_of(items: tuple[Thing, ...], index: str) -> Thing:
    """One of these by a computed index, of tuples each of their items; Problem if no type holds all."""
    tuples = [each.items for each in items if isinstance(each, Items)]
    if len(tuples) == len(items) and len(set(map(len, tuples))) == 1:
        return Items(tuple(item_of(column, index) for column in zip(*tuples, strict=True)))
    values = [each for each in items if isinstance(each, Value)]
    element = table_element(values) if len(values) == len(items) <= _LONGEST else None
    if element is None:
        raise Problem(f"a computed index: it is for tuples of up to {_LONGEST} items of one type")
    *others, text = (converted(each, element) for each in values)
    for position in reversed(range(len(others))):
        text = f"{index} <= {position} ? {others[position]} : {text}"
    return Value(f"({text})", element)

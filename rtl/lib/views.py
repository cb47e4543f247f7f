"""Signals and values of a layout, with the type that they have.

A signal of a layout is a view, and so is a layout's class called with a value. Amaranth's metaclasses decide that, and
mypy does not follow them. These functions state the type.
"""

from typing import Any, TypeVar, overload

from amaranth import Signal, Value
from amaranth.hdl import ShapeLike
from amaranth.lib import data

Viewed = TypeVar("Viewed", bound=data.Struct)


@overload
def record(layout: type[Viewed], *, name: str | None = None, reset_less: bool = False) -> Viewed: ...
@overload
def record(layout: ShapeLike, *, name: str | None = None, reset_less: bool = False) -> data.View: ...
def record(layout: Any, *, name: str | None = None, reset_less: bool = False) -> Any:
    """A signal of a layout; without `name` it has the name of the variable, as every signal."""
    return Signal(layout, name=name, reset_less=reset_less, src_loc_at=1)


def view(layout: type[Viewed], value: Value) -> Viewed:
    """The fields of a value."""
    make: Any = layout
    fields: Viewed = make(value)
    return fields

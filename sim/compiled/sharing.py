"""Expressions that stay one while Amaranth lowers hardware.

Amaranth emits an expression once in a module, however often the same object is used there. Its transformers, though,
which rename domains and resolve clocks, copy an expression for each use. A comparison whose result is replicated to 32
bits then becomes 32 comparisons: two thirds of the operators of a core. Everything that reads the netlist pays for
them, and Verilator removes them in the end.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from amaranth.hdl import _xfrm
from amaranth.hdl._ir import Fragment

_COPIES = "_copies"
"""The attribute of a transformer with the copies that it has made in a module: of an object, by its identity."""


@contextmanager
def shared_expressions() -> Iterator[None]:
    """Within this, an object that a module uses several times has one copy in it.

    Other modules have copies of their own, because clocks may mean something else there, and so that no expression
    crosses a border. Amaranth offers no method for that: two methods of its transformers are replaced, those of the
    version that the project is bound to.
    """
    transformer: Any = _xfrm.ValueTransformer
    fragments: Any = _xfrm.FragmentTransformer
    copied, of_statements = transformer.on_value, fragments.map_statements

    def on_value(self: Any, value: Any) -> Any:
        copies = getattr(self, _COPIES, None)
        if copies is None:
            return copied(self, value)
        if id(value) not in copies:
            # The object is kept beside its copy, or another one could have its identity.
            copies[id(value)] = value, copied(self, value)
        return copies[id(value)][1]

    def map_statements(self: Any, fragment: Fragment, new_fragment: Fragment) -> None:
        setattr(self, _COPIES, {})
        of_statements(self, fragment, new_fragment)
        delattr(self, _COPIES)

    transformer.on_value, fragments.map_statements = on_value, map_statements
    try:
        yield
    finally:
        del transformer.on_value
        fragments.map_statements = of_statements

"""Indices of rings of any length."""

from amaranth import Mux, Value


def next_index(index: Value, depth: int) -> Value:
    """The index after `index` in a ring of `depth` entries."""
    return Mux(index == depth - 1, 0, index + 1)[: len(index)]

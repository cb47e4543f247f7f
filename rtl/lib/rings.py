"""Places in rings of any length."""

from amaranth import Mux, Value


def place_behind(place: Value, depth: int) -> Value:
    """The place behind one in a ring of `depth` places."""
    return Mux(place == depth - 1, 0, place + 1)[: len(place)]

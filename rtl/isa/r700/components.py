"""What a component of an export or of a fetched element is."""

from amaranth.lib import enum


class ComponentSelect(enum.Enum, shape=3):
    """SEL of exports, DST_SEL of fetches, SRC_SEL of data share writes; MASK does not write the component."""

    X = 0
    Y = 1
    Z = 2
    W = 3
    ZERO = 4
    ONE = 5
    MASK = 7

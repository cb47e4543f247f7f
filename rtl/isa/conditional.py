"""Codes of the conditional unit's commands; CTM Guide p. 22."""

from amaranth.lib import enum


class ConditionalTest(enum.Enum, shape=3):
    """The comparison (conditional value) OP (conditional buffer)."""

    NEVER = 0
    LESS = 1
    LESS_EQUAL = 2
    EQUAL = 3
    GREATER_EQUAL = 4
    GREATER = 5
    NOT_EQUAL = 6
    ALWAYS = 7


class ConditionalLocation(enum.Enum, shape=1):
    """The client whose test is made; the other one always passes."""

    DPP = 0
    PE = 1

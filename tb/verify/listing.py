"""Listings of programs as executables of an instruction set."""

from functools import lru_cache
from typing import TypeVar

from ctm.sim.assembler import AssemblyError, assemble

E = TypeVar("E")


@lru_cache(maxsize=8)
def assembled(text: str, kind: type[E]) -> E:
    """The program of a listing.

    Raises
    ------
    ValueError
        It is none, or one for another instruction set.
    """
    try:
        found = assemble(text)
    except AssemblyError as error:
        raise ValueError(str(error)) from None
    if not isinstance(found, kind):
        raise ValueError("it is a program for another instruction set")
    return found

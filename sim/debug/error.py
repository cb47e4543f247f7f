"""Errors of a debug session."""

from collections.abc import Iterable
from difflib import get_close_matches


class DebugError(ValueError):
    """The message says what is wrong, and what is near to it."""


def unknown(what: str, name: str, known: Iterable[str]) -> DebugError:
    """There is no such thing; the nearest name is said."""
    names = list(known)
    close = get_close_matches(name, names, n=1)
    hint = f"; did you mean {close[0]}?" if close else f"; there is: {', '.join(names[:12])}" if names else ""
    return DebugError(f"there is no {what} {name}{hint}")

"""Names that are wrong, and the nearest right one."""

import difflib
from collections.abc import Iterable

from ctm.sim.jobs.takes import shown


def unknown(noun: str, name: object, known: Iterable[str]) -> str:
    """A message: there is no such thing, and what was likely meant, or all that there is."""
    names = list(known)
    close = difflib.get_close_matches(str(name), names, n=1)
    hint = f"did you mean '{close[0]}'?" if close else f"there is {', '.join(names)}" if names else "there is none"
    shown_name = f"'{name}'" if isinstance(name, str) else shown(name)
    return f"there is no {noun} {shown_name}; {hint}"

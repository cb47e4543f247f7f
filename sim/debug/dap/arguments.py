"""Arguments of requests, looked at before they are used."""

from collections.abc import Collection
from typing import Any, TypeVar

from ctm.sim.debug.error import DebugError
from ctm.sim.debug.numbers import check_text

_T = TypeVar("_T")
_NAMES: dict[type, str] = {str: "a text", int: "a number", bool: "true or false", list: "a list", dict: "an object"}


LAUNCH = ("job", "preset", "set", "engine", "watchdog", "hazards", "stopOnEntry")
"""Arguments of the request `launch`."""
_OF_CLIENTS = frozenset(
    {"type", "request", "name", "noDebug", "debugServer", "preLaunchTask", "postDebugTask", "presentation",
     "internalConsoleOptions", "serverReadyAction", "suppressMultipleSessionWarning"}
)  # fmt: skip
"""What editors have for themselves in a configuration, and send along; so is what begins with two underscores."""


class Arguments:
    """The arguments of a request. One that is null is absent; anything but an object has no arguments."""

    def __init__(self, values: Any) -> None:
        self._values: dict[str, Any] = values if isinstance(values, dict) else {}

    def optional(self, name: str, kind: type[_T]) -> _T | None:
        """One by its name, if it is there; DebugError: it is of another kind."""
        value = self._values.get(name)
        if value is None:
            return None
        # In JSON true is no number.
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise DebugError(f"argument {name}: {_NAMES[kind]} is wanted, not {value!r:.60}")
        if isinstance(value, str):
            check_text(value)
        return value

    def required(self, name: str, kind: type[_T]) -> _T:
        """One that has to be there; DebugError: it is not, or of another kind."""
        value = self.optional(name, kind)
        if value is None:
            raise DebugError(f"argument {name} is missing")
        return value

    def ignored(self, known: Collection[str]) -> list[str]:
        """The names of those that are neither `known` nor an editor's own."""
        names = (name for name, value in self._values.items() if value is not None)
        return [name for name in names if name not in {*known, *_OF_CLIENTS} and not name.startswith("__")]

    def objects(self, name: str) -> list["Arguments"]:
        """A list of objects, empty if there is none; what is no object has no arguments. DebugError: it is no list."""
        return [Arguments(value) for value in self.optional(name, list) or []]

"""Breakpoints as an editor sets them: all of a source, all of functions, or all of instructions at once."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ctm.sim.debug.dap.arguments import Arguments
from ctm.sim.debug.dap.sources import Sources
from ctm.sim.debug.error import DebugError
from ctm.sim.debug.session import Session
from ctm.sim.debug.stopping.locations import stop_at
from ctm.sim.debug.stopping.stops import Stop

_FUNCTIONS, _INSTRUCTIONS = "function breakpoint", "instruction breakpoint"


@dataclass
class _Requested:
    """One of them: where it is wanted, and the number of the stop that it is, None while it is pending."""

    identifier: int
    reason: str
    source: dict[str, Any] | None
    location: str
    condition: str
    number: int | None = None
    is_verified: bool = False

    def described(self, **more: Any) -> dict[str, Any]:
        """The breakpoint for the editor."""
        return {"id": self.identifier, "verified": self.is_verified, **more}


class Breakpoints:
    """Those of a session that an editor set; `first_line` is the number that the editor gives to the first line."""

    def __init__(self, session: Session, sources: Sources, first_line: int) -> None:
        self._session, self._sources, self._first_line = session, sources, first_line
        self._requested: dict[str, list[_Requested]] = {}
        self._count = 0

    def of_source(self, arguments: Arguments) -> list[dict[str, Any]]:
        """Breakpoints at lines of a source instead of those that it had."""
        source = arguments.required("source", dict)
        wanted = [
            (str(each.required("line", int) + 1 - self._first_line), each) for each in arguments.objects("breakpoints")
        ]
        key = f"{source.get('path')} {source.get('sourceReference')}"
        return self._replace(key, "breakpoint", wanted, source)

    def of_functions(self, arguments: Arguments) -> list[dict[str, Any]]:
        """Breakpoints at labels, or at any other location that the console takes."""
        wanted = [(each.required("name", str), each) for each in arguments.objects("breakpoints")]
        return self._replace(_FUNCTIONS, _FUNCTIONS, wanted)

    def of_instructions(self, arguments: Arguments) -> list[dict[str, Any]]:
        """Breakpoints at units of code."""
        wanted = []
        for each in arguments.objects("breakpoints"):
            reference = each.required("instructionReference", str)
            wanted.append((f"*{unit_of(reference) + (each.optional('offset', int) or 0)}", each))
        return self._replace(_INSTRUCTIONS, _INSTRUCTIONS, wanted)

    def renewed(self) -> Iterator[dict[str, Any]]:
        """Those that were pending and are resolved now."""
        stops = {stop.number: stop for stop in self._session.stops}
        for requested in [each for several in self._requested.values() for each in several if not each.is_verified]:
            found = self._set(requested) if requested.number is None else None
            if requested.number in stops:
                found = self._described(requested, stops[requested.number])
            if found is not None and requested.is_verified:
                yield found

    def stopped(self, stop: Stop) -> tuple[str, list[int]]:
        """The reason that an editor displays for a stop, and its identifiers there."""
        every = [each for several in self._requested.values() for each in several if each.number == stop.number]
        reason = "data breakpoint" if stop.watched is not None else "breakpoint"
        return next((each.reason for each in every), reason), [each.identifier for each in every]

    def _replace(
        self, key: str, reason: str, wanted: list[tuple[str, Arguments]], source: dict[str, Any] | None = None
    ) -> list[dict[str, Any]]:
        for requested in self._requested.pop(key, []):
            # The console may have deleted it.
            if any(stop.number == requested.number for stop in self._session.stops):
                self._session.remove_stop(requested.number or 0)
        found = []
        for location, arguments in wanted:
            self._count += 1
            condition = arguments.optional("condition", str) or ""
            requested = _Requested(self._count, reason, source, location, condition)
            self._requested.setdefault(key, []).append(requested)
            found.append(self._set(requested))
        return found

    def _set(self, requested: _Requested) -> dict[str, Any]:
        """Set it, if there is such a location: what there is to tell the editor."""
        session, location = self._session, requested.location
        try:
            if requested.source is not None:
                location = f"{self._sources.file(session, requested.source)}:{location}"
            stop = stop_at(session, f"{location} if {requested.condition}" if requested.condition else location)
        except DebugError as error:
            return requested.described(message=str(error), reason="failed")
        requested.number = stop.number
        return self._described(requested, stop)

    def _described(self, requested: _Requested, stop: Stop) -> dict[str, Any]:
        """A breakpoint that is set: one in a program that has not run is pending."""
        session = self._session
        requested.is_verified = stop.finds is None
        unit = min(stop.units) if stop.units else None
        line = None if unit is None else session.code.line(unit)
        more: dict[str, Any] = {} if unit is None else {"instructionReference": reference_of(unit)}
        if line is not None:
            more["source"] = self._sources.described(session.code, line.file)
            more["line"] = line.line - 1 + self._first_line
        if stop.finds is not None:
            more["message"], more["reason"] = "its program has not run yet", "pending"
        return requested.described(**more)


def reference_of(unit: int) -> str:
    """The memory reference of a unit of code."""
    return f"0x{unit:x}"


def unit_of(reference: str) -> int:
    """The unit of a memory reference; DebugError: it is none."""
    try:
        return int(reference, 0)
    except ValueError:
        raise DebugError(f"'{reference:.40}' is no memory reference") from None

"""Where a session stands as frames of an editor, and its program as instructions."""

from bisect import bisect_left
from typing import Any

from ctm.sim.debug.dap.arguments import Arguments
from ctm.sim.debug.dap.breakpoints import reference_of, unit_of
from ctm.sim.debug.dap.sources import Sources
from ctm.sim.debug.session import Session


class Frames:
    """The frame of the wavefront and one for each of its calls; all of them have the same registers."""

    def __init__(self, session: Session, sources: Sources, first_line: int) -> None:
        self._session, self._sources, self._first_line = session, sources, first_line

    def stack(self, given: Arguments) -> dict[str, Any]:
        """The frames, the innermost first."""
        session = self._session
        units = [session.unit, *session.view.calls(session.wavefront.batch)]
        frames = [self._frame(number, unit) for number, unit in enumerate(units)]
        first, levels = given.optional("startFrame", int) or 0, given.optional("levels", int) or len(frames)
        return {"stackFrames": frames[first : first + levels], "totalFrames": len(frames)}

    def instructions(self, given: Arguments) -> dict[str, Any]:
        """As many instructions as are wanted around a reference; those beyond the program are none."""
        units, texts = self._session.code.units, self._session.code.texts
        unit = unit_of(given.required("memoryReference", str)) + (given.optional("offset", int) or 0)
        first = bisect_left(units, unit) + (given.optional("instructionOffset", int) or 0)
        rows: list[dict[str, Any]] = []
        for at in range(first, first + min(given.required("instructionCount", int), _MOST_INSTRUCTIONS)):
            if 0 <= at < len(units):
                rows.append(
                    {"address": reference_of(units[at]), "instruction": texts[units[at]], **self._location(units[at])}
                )
            else:
                beyond = at if at < 0 else units[-1] + 1 + at - len(units)
                rows.append({"address": str(beyond), "instruction": "-", "presentationHint": "invalid"})
        for row in rows:
            if "source" in row:
                row["location"] = row.pop("source")
        return {"instructions": rows}

    def _frame(self, number: int, unit: int) -> dict[str, Any]:
        session = self._session
        name = session.code.name if number == 0 else f"{session.code.name}, called, returns to {unit}"
        if number == 0 and session.wavefront.has_ended:
            # After its last instruction there may be others, which are not its next ones.
            return {"id": 1, "name": f"{name}, ended", "line": 0, "column": 0}
        name = f"{name} {session.code.label(unit)}".rstrip()
        return {
            "id": number + 1, "name": name, "line": 0, "column": 0, "instructionPointerReference": reference_of(unit),
            **self._location(unit),
        }  # fmt: skip

    def _location(self, unit: int) -> dict[str, Any]:
        """Source and line of a unit, if they are known."""
        line = self._session.code.line(unit)
        if line is None:
            return {}
        source = self._sources.described(self._session.code, line.file)
        return {"source": source, "line": line.line - 1 + self._first_line}


_MOST_INSTRUCTIONS = 10_000

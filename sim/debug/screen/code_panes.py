"""Panes of code: source lines and instructions, with the breakpoints in them."""

from rich.text import Text

from ctm.sim.debug.screen.rows import GUTTER, Rows
from ctm.sim.debug.session import Session
from ctm.sim.elf.lines import Line

_HERE, _BREAKPOINT, _CONDITIONAL, _HAZARD = "▶", "●", "◆", "!"
_GUTTERS = {_BREAKPOINT: "red bold", _CONDITIONAL: "red bold", _HAZARD: "yellow bold"}


def _marks(session: Session) -> dict[int, str]:
    """What stands beside units of this program at which something stops."""
    marks = {unit: _HAZARD for stop in session.hazards for unit in stop.units or ()}
    executable = session.started.launch.executable
    for stop in session.stops:
        # A condition at any instruction has no location.
        if stop.executable == executable and stop.units and len(stop.units) < len(session.code.units):
            marks |= dict.fromkeys(stop.units, _BREAKPOINT if stop.condition is None else _CONDITIONAL)
    return marks


def _row(mark: str, number: int, text: str, *, is_here: bool, has_code: bool = True) -> Text:
    row = Text(no_wrap=True, end="")
    row.append(mark or " ", _GUTTERS.get(mark, ""))
    row.append(f"{_HERE if is_here else ' '}", "yellow bold")
    row.append(f"{number:>{GUTTER - 2}}  ", "" if has_code else "dim")
    row.append(text.expandtabs(), "bold" if is_here else "")
    return row


def toggle(session: Session, units: set[int], location: str) -> str:
    """The command that sets a breakpoint at a location, or deletes those that are there, at units of this program."""
    executable, every = session.started.launch.executable, len(session.code.units)
    there = [
        str(stop.number)
        for stop in session.stops
        if stop.executable == executable and stop.units and len(stop.units) < every and stop.units & units
    ]
    return f"delete {' '.join(there)}" if there else f"break {location}"


class SourcePane(Rows):
    """The source file of the line that comes next."""

    _file: str | None = None

    def update_from(self, session: Session) -> None:
        """Show where it stands."""
        line = session.line
        file = line.file if line is not None else self._file
        files, units = session.code.files, _units_of_lines(session)
        if file not in files:
            self._file = None
            self.border_subtitle = None
            self.show([Text("the source of this instruction is not there", "dim", end="")])
            return
        self._file, self.border_subtitle = file, f"{file} {session.code.label(session.unit)}".rstrip()
        marks = _marks(session)
        rows = []
        for number, text in enumerate(files[file].splitlines(), start=1):
            own = units.get((file, number), set())
            mark = next((marks[unit] for unit in sorted(own) if unit in marks), "")
            is_here = line is not None and number == line.line and not session.wavefront.has_ended
            rows.append(_row(mark, number, text, is_here=is_here, has_code=bool(own)))
        self.show(rows, None if line is None or session.wavefront.has_ended else line.line - 1)

    def command(self, session: Session, row: int) -> str | None:
        """What sets or deletes a breakpoint at a row; None if there is no code at the row or after it."""
        if self._file is None:
            return None
        units = _units_of_lines(session)
        following = sorted(number for file, number in units if file == self._file and number > row)
        if not following:
            return None
        return toggle(session, units[self._file, following[0]], f"{self._file}:{following[0]}")


class InstructionPane(Rows):
    """The instructions of the program."""

    def update_from(self, session: Session) -> None:
        """Show where it stands."""
        units, texts, marks = session.code.units, session.code.texts, _marks(session)
        here = session.unit if not session.wavefront.has_ended and session.unit in texts else None
        self.show(
            [_row(marks.get(unit, ""), unit, texts[unit], is_here=unit == here) for unit in units],
            None if here is None else units.index(here),
        )

    def command(self, session: Session, row: int) -> str | None:
        """What sets or deletes a breakpoint at a row."""
        unit = session.code.units[row]
        return toggle(session, {unit}, f"*{unit}")


def _units_of_lines(session: Session) -> dict[tuple[str, int], set[int]]:
    """Units at which instructions begin, by the file and the line that they are of."""
    found: dict[tuple[str, int], set[int]] = {}
    for unit in session.code.units:
        line: Line | None = session.code.line(unit)
        if line is not None:
            found.setdefault((line.file, line.line), set()).add(unit)
    return found

"""A text file that keeps of a VCD what happens in some cycles."""

import io
from typing import TextIO

_TIME, _KEYWORD, _END = "#", "$", "$enddefinitions $end"
_WORDS = ("b", "r", "s")
"""What values begin with that are apart from their variable's code."""


class VcdWindow(io.TextIOBase):
    """Takes a VCD, line by line as time goes on, and writes its definitions and a window of it.

    Parameters
    ----------
    target
        Where that goes.
    first, cycles
        The window, in cycles from `start` on; without `cycles` there is no end.
    period
        Units of time in a cycle.

    Attributes
    ----------
    problem
        An errno, if the target could not be written; nothing is, from then on.
    """

    def __init__(self, target: TextIO, *, first: int, cycles: int | None, period: int) -> None:
        self._target, self._first, self._cycles, self._period = target, first, cycles, period
        self._begin: int | None = None
        self._end: int | None = None
        self._is_defining, self._is_inside = True, False
        self._remainder = ""
        self._values: dict[str, str] = {}
        self.problem = 0

    def start(self, time: int) -> None:
        """At this time cycle 0 begins."""
        self._begin = time + self._first * self._period
        self._end = None if self._cycles is None else self._begin + self._cycles * self._period

    def write(self, text: str) -> int:
        """Take more of the VCD."""
        *lines, self._remainder = (self._remainder + text).split("\n")
        for line in lines:
            self._take(line)
        return len(text)

    def end(self, time: int) -> None:
        """The last cycle of a window without an end ends at this time."""
        if self._is_inside:
            self._put(f"{_TIME}{time}")
        self._is_inside = False

    def _take(self, line: str) -> None:
        if self._is_defining:
            self._put(line)
            self._is_defining = line != _END
        elif line.startswith(_TIME):
            self._pass(int(line.removeprefix(_TIME)))
        elif not line.startswith(_KEYWORD):
            if self._is_inside:
                self._put(line)
            else:
                self._values[line.split(" ")[-1] if line.startswith(_WORDS) else line[1:]] = line

    def _pass(self, time: int) -> None:
        """What comes next is of this time."""
        if self._begin is None or time < self._begin:
            return
        if self._end is not None and time >= self._end:
            self.end(self._end)
            self._begin = None
        elif self._is_inside:
            self._put(f"{_TIME}{time}")
        else:
            self._is_inside = True
            self._put("\n".join((f"{_TIME}{self._begin}", "$dumpvars", *self._values.values(), "$end")))
            if time > self._begin:
                self._put(f"{_TIME}{time}")

    def _put(self, line: str) -> None:
        if self.problem:
            return
        try:
            self._target.write(line + "\n")
        except OSError as error:
            self.problem = error.errno or 1

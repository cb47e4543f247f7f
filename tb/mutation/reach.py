"""Which lines of source files each test runs, and how long it takes."""

import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from ctm.tb.mutation.mutants import TOP, Mutant

_HARDWARE = TOP / "rtl"


@dataclass
class Test:
    """A test that passed: its name, file and seconds, and the lines of each source file that it ran."""

    __test__ = False

    name: str
    path: Path
    seconds: float
    lines: dict[Path, set[int]] = field(default_factory=dict)


def is_imported(mutant: Mutant, before: dict[Path, set[int]]) -> bool:
    """Whether a mutant's statement runs before the first test does: `before` are the lines that did."""
    return not mutant.in_function or _runs(before, mutant)


def reaching(mutant: Mutant, tests: list[Test], before: dict[Path, set[int]]) -> list[Test]:
    """The tests that can find a mutant, in their order.

    What runs at the import leaves values that any test may read; those that run any of the file come first. Hardware is
    described in the first test of a design and simulated in all that share it; those that run the statement come first.
    """
    if is_imported(mutant, before):
        return sorted(tests, key=lambda test: not test.lines.get(mutant.path))
    direct = [test for test in tests if _runs(test.lines, mutant)]
    if direct and mutant.path.is_relative_to(_HARDWARE):
        return sorted(tests, key=lambda test: not _runs(test.lines, mutant))
    return direct


def _runs(lines: dict[Path, set[int]], mutant: Mutant) -> bool:
    first, last = mutant.lines
    return any(first <= line <= last for line in lines.get(mutant.path, ()))


class Tracer:
    """Collects, while it is used as a context, the lines of some files that run."""

    def __init__(self, files: list[Path]) -> None:
        self.lines: dict[Path, set[int]] = {}
        self._files = set(files)
        self._paths: dict[str, Path | None] = {}

    def __enter__(self) -> "Tracer":
        self.lines = {}
        threading.settrace(self._called)
        sys.settrace(self._called)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)
        threading.settrace(None)

    def _called(self, frame: FrameType, event: str, argument: object) -> Any:
        name = frame.f_code.co_filename
        if name not in self._paths:
            resolved = Path(name).resolve()
            self._paths[name] = resolved if resolved in self._files else None
        path = self._paths[name]
        if path is None:
            return None
        lines = self.lines.setdefault(path, set())

        def traced(frame: FrameType, event: str, argument: object) -> Any:
            lines.add(frame.f_lineno)
            return traced

        return traced(frame, event, argument)

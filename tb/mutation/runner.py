"""Runs a unit's tests on mutants, each in a process of its own.

Nearly all mutants are in functions that do not run before a test does. For these, processes are forked from one in
which the tests are collected, and the functions get the mutant's code: nothing can depend on what they were. For all
others, processes are forked in which nothing is imported that imports the mutated file, and `plugin` gives the mutant.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from ctm.tb.lib.some import ALL_CASES
from ctm.tb.mutation.hook import VARIABLE
from ctm.tb.mutation.mutants import TOP, Mutant, Source
from ctm.tb.mutation.preload import import_all, preload
from ctm.tb.mutation.processes import TIMEOUT, Task, ended, streamed
from ctm.tb.mutation.reach import Test, Tracer, is_imported, reaching
from ctm.tb.mutation.swap import CannotSwapError, Functions

TIMES = 10
"""A mutant may take this many times as long as its tests take without it."""
LEAST_SECONDS = 20.0
"""Seconds that any mutant may take: processes start, and the machine has other work."""
_OPTIONS = ("-q", "-x", "--tb=short", "--disable-warnings", "-p", "no:cacheprovider", "-p", "no:xdist")
_NOT_SWAPPED = 77
"""The status of a process whose mutant wants an import."""

Send = Callable[[Any], None]


class Outcome(Enum):
    """What became of a mutant."""

    KILLED = "killed"
    TIMEOUT = "killed by the time limit"
    SURVIVED = "survived"
    UNREACHED = "survived, as no test runs it"

    @property
    def survives(self) -> bool:
        """Whether no test found it."""
        return self in (Outcome.SURVIVED, Outcome.UNREACHED)


class BaselineError(Exception):
    """The tests do not pass without a mutant, or there are none."""


def outcomes(mutants: list[Mutant], tests: list[str], jobs: int) -> Iterator[tuple[Mutant, Outcome]]:
    """Run mutants, `jobs` at a time, and tell what became of each, in the order in which they end.

    `tests` are arguments of pytest.

    Raises
    ------
    BaselineError
    """
    waiting: list[tuple[Mutant, list[Test]]] = []
    for kind, *found in streamed(lambda send: _collect(mutants, tests, jobs, send)):
        match kind:
            case "failed":
                raise BaselineError(found[0])
            case "import":
                waiting.append((found[0], found[1]))
            case _:
                yield found[0], found[1]
    for path in dict.fromkeys(mutant.path for mutant, _ in waiting):
        own = [each for each in waiting if each[0].path == path]
        yield from streamed(lambda send, path=path, own=own: _import_all(path, own, jobs, send))  # type: ignore[misc]


def _outcome(status: int) -> Outcome:
    return {0: Outcome.SURVIVED, TIMEOUT: Outcome.TIMEOUT}.get(status, Outcome.KILLED)


def _seconds(tests: list[Test]) -> float:
    """The time limit of tests."""
    return max(TIMES * sum(test.seconds for test in tests), LEAST_SECONDS)


def _collect(mutants: list[Mutant], tests: list[str], jobs: int, send: Send) -> None:
    """Collect tests, and run the mutants that can be run from there."""
    os.chdir(TOP)
    os.environ[ALL_CASES] = "1"
    collected = _Collected(mutants, jobs, send)
    with collected.tracer:
        code = int(pytest.main([*_OPTIONS, *tests], plugins=[collected]))
    if code:
        send(("failed", f"pytest ends with {code}: {collected.problem or 'no test is collected'}"))


class _Collected:
    """A plugin of pytest that runs mutants instead of tests."""

    def __init__(self, mutants: list[Mutant], jobs: int, send: Send) -> None:
        self.tracer = Tracer(sorted({mutant.path for mutant in mutants}))
        self.problem = ""
        self._mutants, self._jobs, self._send = mutants, jobs, send
        self._failed = False

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep the first failure."""
        if report.failed:
            self.problem = self.problem or f"{report.nodeid}\n{report.longreprtext}"

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the first failure."""
        if report.failed:
            self._failed = True
            self.problem = self.problem or f"{report.nodeid}\n{report.longreprtext}"

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run all tests without a mutant, and those that reach a mutant with it."""
        self.tracer.__exit__()
        if session.testsfailed or not session.items:
            return True
        before = self.tracer.lines
        files = sorted({mutant.path for mutant in self._mutants})
        (found,) = streamed(lambda send: send(self._baseline(session.items, files)))
        tests, modules, problem = found
        if problem:
            self._send(("failed", f"a test fails without a mutant: {problem}"))
            return True
        with self.tracer:
            import_all(modules)
        for path, lines in self.tracer.lines.items():
            before.setdefault(path, set()).update(lines)
        self._run(session.items, tests, before, files)
        return True

    def _baseline(self, items: list[pytest.Item], files: list[Path]) -> tuple[list[Test], list[str], str]:
        """The tests, the modules that they import when they run, and the first failure."""
        known = set(sys.modules)
        tracer, found = Tracer(files), []
        for item, following in zip(items, [*items[1:], None], strict=True):
            start = time.perf_counter()
            with tracer:
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            found.append(Test(item.nodeid, item.path, time.perf_counter() - start, tracer.lines))
            if self._failed:
                break
        modules = [name for name in sys.modules if name not in known]
        return sorted(found, key=lambda test: test.seconds), modules, self.problem

    def _run(
        self, items: list[pytest.Item], tests: list[Test], before: dict[Path, set[int]], files: list[Path]
    ) -> None:
        functions, sources = Functions(files), {path: Source(path) for path in files}
        by_name = {item.nodeid: item for item in items}
        tasks = []
        for mutant in self._mutants:
            chosen = reaching(mutant, tests, before)
            if not chosen:
                self._send(("", mutant, Outcome.UNREACHED))
            elif is_imported(mutant, before):
                self._send(("import", mutant, chosen))
            else:
                own = [by_name[test.name] for test in chosen]

                def work(mutant: Mutant = mutant, own: list[pytest.Item] = own) -> int:
                    try:
                        functions.swap(sources[mutant.path], mutant)
                    except CannotSwapError:
                        return _NOT_SWAPPED
                    return self._tested(own)

                tasks.append(Task((mutant, chosen), work, _seconds(chosen)))
        for (mutant, chosen), status in ended(tasks, self._jobs):
            self._send(("import", mutant, chosen) if status == _NOT_SWAPPED else ("", mutant, _outcome(status)))

    def _tested(self, items: list[pytest.Item]) -> int:
        """Run tests up to the first one that fails; 0 if none does."""
        for item, following in zip(items, [*items[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self._failed:
                return 1
        return 0


class _Selection:
    """A plugin of pytest that runs tests of these names only, in their order."""

    def __init__(self, names: list[str]) -> None:
        self._order = {name: number for number, name in enumerate(names)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave the chosen ones."""
        chosen = [item for item in items if item.nodeid in self._order]
        items[:] = sorted(chosen, key=lambda item: self._order[item.nodeid])


def _import_all(path: Path, mutants: list[tuple[Mutant, list[Test]]], jobs: int, send: Send) -> None:
    """Run mutants of one file by imports.

    Raises
    ------
    BaselineError
        The same tests fail without a mutant: the sources were changed meanwhile.
    """
    os.chdir(TOP)
    preload(sorted({test.path for _, tests in mutants for test in tests}), path)
    control = mutants[0][1]
    tasks: list[Task[Mutant | None]] = [Task(mutant, _by_import(mutant, own), _seconds(own)) for mutant, own in mutants]
    tasks.append(Task(None, _by_import(None, control), _seconds(control)))
    for mutant, status in ended(tasks, jobs):
        if mutant:
            send((mutant, _outcome(status)))
        elif status:
            raise BaselineError(f"tests fail without a mutant of {path} now")


def _by_import(mutant: Mutant | None, tests: list[Test]) -> Callable[[], int]:
    """What runs tests on a mutant that is imported, or without one."""

    def work() -> int:
        os.environ[ALL_CASES] = "1"
        if mutant:
            os.environ[VARIABLE] = mutant.name
        names = [test.name for test in tests]
        options = [*_OPTIONS, "-p", "ctm.tb.mutation.plugin", f"--basetemp={os.environ['TMPDIR']}/tests"]
        own = dict.fromkeys(str(test.path) for test in tests)
        return int(pytest.main([*options, *own], plugins=[_Selection(names)]))

    return work

"""Calls that run in a process of their own, in parallel with their caller."""

import os
import pickle
import sys
from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar

from ctm.sim.compiled.error import ToolchainError
from ctm.sim.compiled.tools.programs import Tools, last_lines

Value = TypeVar("Value")

# On a signal the process ends normally, and with it the tools that it has started.
_CHILD = """
import pickle, signal, sys
signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
function, arguments = pickle.load(sys.stdin.buffer)
try:
    outcome = True, function(*arguments)
except Exception as error:
    outcome = False, error
pickle.dump(outcome, sys.stdout.buffer)
"""


class Beside(Generic[Value]):
    """``function(*arguments)`` in a process of its own; function and arguments must be picklable.

    Unlike those of `multiprocessing`, the process does not import the caller's main module. Leaving the context ends
    it.
    """

    def __init__(self, function: Callable[..., Value], *arguments: Any) -> None:
        # Not from the current folder, in which a user may have packages of the same names.
        command = [sys.executable, "-P", "-c", _CHILD]
        self._tools = Tools()
        self._process = self._tools.start(
            command, environment={"PYTHONPATH": os.pathsep.join(sys.path)}, given=pickle.dumps((function, arguments))
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._tools.__exit__()

    @property
    def is_done(self) -> bool:
        """Whether there is a result, or never will be."""
        return self._process.done()

    def result(self) -> Value:
        """Wait for the result; an exception is raised here.

        Raises
        ------
        ToolchainError
            The process ended without either; the message has the end of what it printed.
        """
        ended = self._process.result()
        if ended.returncode:
            problem = f"a process that works beside this one ended with {ended.returncode}"
            raise ToolchainError(f"{problem}\n{last_lines(ended.stderr)}")
        succeeded, value = pickle.loads(ended.stdout)
        if not succeeded:
            raise value
        result: Value = value
        return result

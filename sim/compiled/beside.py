"""Calls that are computed in a process of their own, beside what their caller does."""

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar

from ctm.sim.compiled.toolchain import ToolchainError, last_lines

Result = TypeVar("Result")

_CHILD = """
import pickle, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
function, arguments = pickle.load(sys.stdin.buffer)
try:
    answer = True, function(*arguments)
except Exception as error:
    answer = False, error
pickle.dump(answer, sys.stdout.buffer)
"""


class Beside(Generic[Result]):
    """``function(*arguments)`` in a process of its own; function and arguments must be known to pickle.

    Unlike those of `multiprocessing`, the process does not import the caller's main module, which need not be made for
    that. Leaving the context ends it; so does an interrupt, by the caller.
    """

    def __init__(self, function: Callable[..., Result], *arguments: Any) -> None:
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        # Not from the current folder, in which a user may have packages of the same names.
        command = [sys.executable, "-P", "-c", _CHILD]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=pipe)
        assert self._process.stdin is not None
        pickle.dump((function, arguments), self._process.stdin)
        self._process.stdin.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def result(self) -> Result:
        """Wait for the result; an exception is raised here.

        Raises
        ------
        ToolchainError
            The process ended without either; the message has the end of what it printed.
        """
        answer, printed = self._process.communicate()
        if self._process.returncode:
            ended = f"a process that works beside this one ended with {self._process.returncode}"
            raise ToolchainError(f"{ended}\n{last_lines(printed.decode(errors='replace'))}")
        succeeded, value = pickle.loads(answer)
        if not succeeded:
            raise value
        result: Result = value
        return result

"""Standard output that cannot be written: a full disk, a closed pipe."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ctm.sim.cli.outcome import BAD_INPUT
from ctm.sim.files import STANDARD_OUTPUT


@contextmanager
def printed() -> Iterator[None]:
    """Flush standard output after the body; if that fails, end the process with one line and status 2.

    Without this the interpreter fails at exit, with a message and an exit status of its own. What is still buffered is
    discarded. A body that ends the process with an error keeps its exit status.
    """
    try:
        try:
            yield
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except OSError as error:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
        end = error.__context__
        if isinstance(end, SystemExit) and end.code:
            raise end from None
        print(f"error: {error.filename or STANDARD_OUTPUT}: {error.strerror}", file=sys.stderr)
        sys.exit(BAD_INPUT)

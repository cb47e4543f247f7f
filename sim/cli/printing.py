"""Standard output that does not take what is printed: a full disk, a reader that has left."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ctm.sim.cli.outcome import BAD_INPUT
from ctm.sim.files import STANDARD_OUTPUT


@contextmanager
def printed() -> Iterator[None]:
    """Find out whether all that the body printed was taken; if not, end the process with one line and status 2.

    Otherwise the interpreter finds it out when it ends, with a message and an exit status of its own. What is in its
    buffer is given up. A body that ends the process with an error keeps its exit status, and has said why.
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

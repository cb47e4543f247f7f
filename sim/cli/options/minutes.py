"""What takes long is said, and after each minute how long it has taken."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from ctm.sim.engines.engine import Notice

_SECONDS = 60.0


@contextmanager
def minutes(sentence: str) -> Iterator[Notice]:
    """Give a function that writes a sentence to standard error; from its call on each minute is counted there.

    Counting ends with the body.
    """
    ended = threading.Event()

    def count() -> None:
        number = 1
        while not ended.wait(_SECONDS):
            typer.echo(f"... {number} min", err=True)
            number += 1

    def tell() -> None:
        typer.echo(sentence, err=True)
        threading.Thread(target=count, daemon=True).start()

    try:
        yield tell
    finally:
        ended.set()

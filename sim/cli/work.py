"""Folders for files that tools of the FPGA write."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from ctm.sim.cli.outcome import BadInput

Work = Annotated[
    Path | None,
    typer.Option("--work", metavar="DIR", help="A new folder for the files of the tools; it is kept."),
]


@contextmanager
def work_folder(wanted: Path | None) -> Iterator[Path]:
    """The folder that is wanted, which must be new, or a temporary one.

    Raises
    ------
    BadInput
        It is there already.
    """
    if wanted is None:
        with tempfile.TemporaryDirectory(prefix="ctm-work-") as name:
            yield Path(name)
        return
    try:
        wanted.mkdir(parents=True)
    except FileExistsError:
        raise BadInput(f"--work {wanted}: it is there already; name a new folder") from None
    yield wanted

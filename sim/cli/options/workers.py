"""Options that say which processes work: those of this computer, or those of a cluster."""

import re
from collections.abc import Mapping
from pathlib import Path

from ctm.sim.cli.outcome import BadInput

_HOST_AND_PORT = re.compile(r"[^\s:/]+:\d+")


def check_workers(workers: int | None, scheduler: str | None, certificates: Mapping[str, Path | None]) -> None:
    """Check the values of --workers and --scheduler, and the files of TLS by their options; None: not given.

    Raises
    ------
    BadInput
        They exclude each other, one needs another, a file does not exist, or the scheduler's address is none.
    """
    if workers is not None and scheduler is not None:
        raise BadInput("--workers is for this computer, --scheduler for a cluster that is there: not both")
    for option, file in certificates.items():
        if file is not None and scheduler is None:
            raise BadInput(f"{option} is for a cluster: add --scheduler tls://HOST:PORT")
        if file is not None and not file.is_file():
            raise BadInput(f"{option} {file}: there is no such file")
    if scheduler is not None and "://" not in scheduler and not _HOST_AND_PORT.fullmatch(scheduler):
        raise BadInput(f"--scheduler {scheduler}: an address is tcp://HOST:PORT")

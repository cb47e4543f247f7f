"""Failing seeds as files: each reproduces with one command, and says which sources it failed with."""

import json
from pathlib import Path
from typing import Any

from ctm import __version__
from ctm.sim.files import naming, read_text, write_file
from ctm.tb.verify.catalogue import CAMPAIGNS
from ctm.tb.verify.sources import sources
from ctm.tb.verify.tally import Failure

_FORMAT = 1
_NEEDED = {"format", "campaign", "case", "difference", "kind", "version", "sources"}


class KeptError(Exception):
    """A file that is no kept failure; the message names it and says why."""


def path_of(failure: Failure, folder: Path) -> Path:
    """Where a failure is kept."""
    return folder / f"{failure.name}.json"


def keep(failure: Failure, folder: Path) -> None:
    """Write a failure into a folder, over the one that is not reduced; OSError: it cannot be written."""
    fields = {
        "format": _FORMAT, "campaign": failure.campaign, "case": failure.case, "difference": failure.difference,
        "kind": failure.kind, "items": failure.size, "tries": failure.tries, "is_complete": failure.is_complete,
        "version": __version__, "sources": sources(),
    }  # fmt: skip
    write_file(path_of(failure, folder), (json.dumps(fields, indent=1) + "\n").encode(), make_folders=True)


def load(path: Path) -> tuple[Failure, str]:
    """A kept failure, and the sources that it failed with.

    Raises
    ------
    KeptError
        It is no such file, or is one of a campaign that is not there.
    OSError
        It cannot be read.
    """
    try:
        with naming(path):
            found: Any = json.loads(read_text(path))
    except ValueError as error:
        raise KeptError(f"{path}: this is no kept failure: {error}") from None
    if not isinstance(found, dict) or not found.keys() >= _NEEDED:
        missing = sorted(_NEEDED - found.keys()) if isinstance(found, dict) else sorted(_NEEDED)
        raise KeptError(f"{path}: this is no kept failure: it has no {', '.join(missing)}")
    if found["format"] != _FORMAT:
        raise KeptError(f"{path}: it has format {found['format']!r}; this version reads format {_FORMAT}")
    if found["campaign"] not in CAMPAIGNS:
        raise KeptError(f"{path}: there is no campaign {found['campaign']!r}; there is {', '.join(CAMPAIGNS)}")
    case = found["case"]
    if not isinstance(case, dict) or not isinstance(case.get("seed"), int):
        raise KeptError(f"{path}: its case has no seed")
    failure = Failure(found["campaign"], case, str(found["difference"]), str(found["kind"]), found.get("tries", 0))
    return failure, str(found["sources"])

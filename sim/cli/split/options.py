"""Options of ``ctm run`` for tiles and their workers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from ctm.sim.cli.options.workers import check_workers
from ctm.sim.cli.outcome import BadInput

Split = Annotated[str | None, typer.Option("--split", metavar="N", help="Run the domain in N tiles, in parallel.")]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers", min=0, metavar="N", help="With --split: workers on this computer; 0: none, but this process.",
        show_default="as many as processors",
    ),
]  # fmt: skip
Scheduler = Annotated[
    str | None,
    typer.Option("--scheduler", metavar="ADDRESS", help="With --split: a Dask scheduler, such as tcp://HOST:8786."),
]
Authority = Annotated[
    Path | None, typer.Option("--tls-ca", metavar="PEM", help="Certificate of the certificate authority.")
]
Certificate = Annotated[Path | None, typer.Option("--tls-cert", metavar="PEM", help="Client certificate.")]
Key = Annotated[Path | None, typer.Option("--tls-key", metavar="PEM", help="Private key of the client.")]

_INSTEAD = "it observes one run: use it without --split, over a smaller domain"
_UNSUPPORTED = {
    "--check": "a whole run is compared: use it without --split, over a smaller domain",
    "--hazards": _INSTEAD,
    "--profile": _INSTEAD,
    "--timeline": _INSTEAD,
    "--report": _INSTEAD,
    "--waves": _INSTEAD,
    "--trace": _INSTEAD,
    "--png": "name an output FILE.png in the job, or make a picture of a detail of it afterwards",
    "--port": "a board runs whole domains",
}
"""Options that a split run does not have, and what to do."""


def tiles(text: str | None) -> int | None:
    """The number that ``--split`` gives; `BadInput` if it is none."""
    if text is None:
        return None
    if not text.isdecimal() or not int(text):
        raise BadInput(f"--split: a number of tiles, 1 or more, is expected, not '{text}'")
    return int(text)


@dataclass(frozen=True, kw_only=True)
class Division:
    """In how many tiles a job runs, None for one run, and where."""

    count: int | None
    workers: int | None = None
    scheduler: str | None = None
    certificates: Mapping[str, Path | None] = field(default_factory=dict)

    def check(self, others: Mapping[str, object]) -> None:
        """Reject options that do not go together; `others` has those that were given beside --split.

        Raises
        ------
        BadInput
            With the reason.
        """
        if self.count is None:
            alone = {"--workers": self.workers, "--scheduler": self.scheduler, **self.certificates}
            for option, value in alone.items():
                if value is not None:
                    raise BadInput(f"{option} is for a run in tiles: add --split N")
            return
        check_workers(self.workers, self.scheduler, self.certificates)
        for option, reason in _UNSUPPORTED.items():
            if others.get(option):
                raise BadInput(f"{option}: not together with --split: {reason}")

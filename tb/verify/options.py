"""The options of ``python -m ctm.tb.verify``."""

import argparse
import math
from collections.abc import Sequence
from pathlib import Path

from ctm.sim.cli.options.workers import check_workers
from ctm.sim.cli.outcome import BadInput
from ctm.sim.sweep.names import unknown
from ctm.tb.verify.catalogue import CAMPAIGNS

_FOLDER = Path("out/verify")
_MINUTES = 10.0
_MOST_FAILURES = 10


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options.

    Raises
    ------
    BadInput
        They do not go together, or a value is none.
    """
    options = _parser().parse_args(arguments)
    for name in options.campaign or ():
        if name not in CAMPAIGNS:
            raise BadInput(f"--campaign: {unknown('campaign', name, CAMPAIGNS)}")
    if options.minutes is None and options.seeds is None:
        options.minutes = _MINUTES
    if options.minutes is not None and not (math.isfinite(options.minutes) and options.minutes > 0):
        raise BadInput(f"--minutes {options.minutes}: it is a number above 0")
    _check_numbers(options)
    certificates = {"--tls-ca": options.tls_ca, "--tls-cert": options.tls_cert, "--tls-key": options.tls_key}
    check_workers(options.workers, options.scheduler, certificates)
    return options


def _check_numbers(options: argparse.Namespace) -> None:
    for name, least in (("seeds", 1), ("seed", 0), ("workers", 0), ("failures", 1)):
        value = getattr(options, name)
        if value is not None and value < least:
            raise BadInput(f"--{name} {value}: it is a number from {least} on")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m ctm.tb.verify",
        description="Run random tests of the hardware and the compilers for a given time; docs/verify.md says more.",
    )
    parser.add_argument("--list", action="store_true", help="print the campaigns and do nothing else")
    parser.add_argument("--again", type=Path, metavar="FILE", help="run one kept failure again, and nothing else")
    parser.add_argument("--campaign", action="append", metavar="NAME", help="run this one; may be given several times")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="the first seed of each campaign")
    parser.add_argument("--seeds", type=int, metavar="N", help="how many seeds of each campaign")
    parser.add_argument("--minutes", type=float, metavar="M", help=f"how long; {_MINUTES:g} if --seeds is not given")
    help_text = f"failing seeds after which a campaign ends (default {_MOST_FAILURES})"
    parser.add_argument("--failures", type=int, default=_MOST_FAILURES, metavar="N", help=help_text)
    parser.add_argument("--workers", type=int, metavar="N", help="processes on this computer; 0: this one")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="a scheduler of Dask, as tcp://HOST:8786 or tls://...")
    parser.add_argument("--tls-ca", type=Path, metavar="PEM", help="certificate of the scheduler's authority")
    parser.add_argument("--tls-cert", type=Path, metavar="PEM", help="the client's own certificate")
    parser.add_argument("--tls-key", type=Path, metavar="PEM", help="its private key")
    help_text = f"where failures are kept (default {_FOLDER})"
    parser.add_argument("-o", "--output", type=Path, default=_FOLDER, metavar="FOLDER", help=help_text)
    parser.add_argument("--page", type=Path, metavar="FILE.html", help="write a page of failures and coverage")
    parser.add_argument("--junit", type=Path, metavar="FILE.xml", help="write JUnit XML")
    return parser

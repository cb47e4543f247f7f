"""``ctm explore``: a kernel beside its instructions, on a local page."""

import errno
from pathlib import Path
from typing import Annotated

import typer

from ctm.sim.cli.outcome import BadInput, Outcome
from ctm.sim.compiled.tools.package import NICEGUI

_PORT = 8700


def explore(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE.c|.py|.s]",
            help="The first kernel; default: a small new one.",
            show_default=False,
        ),
    ] = None,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port of the page, on this computer only; 0: a free one.")
    ] = _PORT,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the browser, or only print its address.")
    ] = True,
) -> None:
    """Display a kernel beside its instructions, cycles and output in a browser, while you edit it."""
    outcome = Outcome(json_wanted=False)
    with outcome.reported():
        NICEGUI.require()
        # NiceGUI is an optional package.
        from ctm.sim.explore.explorer import Explorer
        from ctm.sim.explore.models import Models
        from ctm.sim.explore.security import ADDRESS
        from ctm.sim.explore.server import listening, serve
        from ctm.sim.explore.start import ENDINGS, new, of_file

        if file is not None and file.suffix not in ENDINGS:
            raise BadInput(f"{file}: a kernel's name ends in {', '.join(ENDINGS)}")
        start = new() if file is None else of_file(file)
        try:
            at = listening(port)
        except OSError as error:
            taken = error.errno == errno.EADDRINUSE
            problem = "another program uses it; 0 selects a free one" if taken else error.strerror
            raise BadInput(f"--port {port}: {problem}") from None
        with at:
            outcome.say(f"http://{ADDRESS}:{at.getsockname()[1]}/ is the page; Ctrl-C ends it")
            serve(at, start, Explorer(), Models(), show=browser)

"""The command line: ``ctm``."""

import gc
import sys
import warnings

from ctm.sim.cli.signals import ending_at_once, interruptible


def main() -> None:
    """Entry point. Signals come first: everything else takes half a second to import."""
    if not sys.warnoptions:
        # Warnings of libraries are for programmers; messages about users' files are the commands' own.
        warnings.simplefilter("ignore")
    with interruptible():
        with ending_at_once():
            # Imports make so many objects that collection would run hundreds of times, and modules are never freed.
            gc.disable()
            from ctm.sim.cli.application import application
            from ctm.sim.cli.printing import printed

            command = application(*sys.argv[1:2])
            gc.freeze()
            gc.enable()
        with printed():
            command()

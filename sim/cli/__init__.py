"""The command line: ``ctm``."""

import sys

from ctm.sim.cli.signals import ending_at_once, interruptible


def main() -> None:
    """Entry point. Signals come first: everything else takes half a second to import."""
    with interruptible():
        with ending_at_once():
            from ctm.sim.cli.application import application
            from ctm.sim.cli.printing import printed

            command = application(*sys.argv[1:2])
        with printed():
            command()

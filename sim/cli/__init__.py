"""The command line: ``ctm``."""

import gc
import sys
import warnings

from ctm.sim.cli.signals import ending_at_once, interruptible


def main() -> None:
    """Entry point. Signals come first: everything else takes half a second to import."""
    if not sys.warnoptions:
        # What libraries warn of is for who calls them; users hear of their files by our own sentences.
        warnings.simplefilter("ignore")
    with interruptible():
        with ending_at_once():
            # Garbage is looked for by the number of objects: hundreds of times among those of modules, which stay.
            gc.disable()
            from ctm.sim.cli.application import application
            from ctm.sim.cli.printing import printed

            command = application(*sys.argv[1:2])
            gc.freeze()
            gc.enable()
        with printed():
            command()

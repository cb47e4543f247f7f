"""``python -m ctm``: the command line."""

from ctm.sim.cli import main

main()

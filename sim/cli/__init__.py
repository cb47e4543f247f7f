"""The command line: ``ctm``."""

from ctm.sim.cli.application import main

__all__ = ["main"]

"""The command line: ``ctm``."""

from sim.cli.application import main

__all__ = ["main"]

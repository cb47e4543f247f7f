"""Mistakes that are planted in the source of the R700 core."""

from ctm.tb.lib.planting import Fault


def faults_in(module: str, *changes: tuple[str, str]) -> list[Fault]:
    """A mistake for each change of a text in a module below `ctm.rtl.r700` into something else."""
    return [Fault(f"rtl.r700.{module}", old, new) for old, new in changes]

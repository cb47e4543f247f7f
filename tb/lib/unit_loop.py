"""The C++ around a compiled unit: what all have, the unit's ports, and the clock that drives these."""

from importlib import resources


def wrapper(declarations: str, package: str, *names: str) -> str:
    """`declarations` give the ports their names; files of a package of `tb` are the clock."""
    texts = [resources.files(f"ctm.tb.{package}").joinpath(name).read_text() for name in names]
    return "".join([resources.files("ctm.tb.lib").joinpath("unit_loop.h").read_text(), declarations, *texts])

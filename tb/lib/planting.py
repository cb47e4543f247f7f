"""Building a unit with a mistake in its source, to see that the tests find it."""

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

_PACKAGES = ("ctm.rtl.border", "ctm.rtl.fp", "ctm.rtl.lib", "ctm.rtl.dpp", "ctm.rtl.pe", "ctm.rtl.r5xx")


@dataclass(frozen=True)
class Fault:
    """One place of a module's source, which occurs once, and what stands there instead.

    The module is named below `ctm`: "rtl.fp.rounding".
    """

    module: str
    old: str
    new: str


def checks(module: str) -> Any:
    """A module of the suite's tests, named below `ctm.tb`, whose tests are to find a fault."""
    return importlib.import_module(f"ctm.tb.{module}")


@contextmanager
def planted(fault: Fault, module: str = "ctm.rtl.r5xx.units") -> Iterator[ModuleType]:
    """A module, all hardware imported anew with the fault in it.

    Raises
    ------
    ValueError
        The place does not occur exactly once: the source has changed, and the fault must follow.
    """
    kept = {name: module for name, module in sys.modules.items() if name.startswith(_PACKAGES)}
    for name in kept:
        del sys.modules[name]
    try:
        spec = importlib.util.find_spec(f"ctm.{fault.module}")
        assert spec is not None and spec.origin is not None
        source = Path(spec.origin).read_text()
        if source.count(fault.old) != 1:
            raise ValueError(f"{fault.module} has {source.count(fault.old)} places {fault.old!r}")
        faulty = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = faulty
        exec(compile(source.replace(fault.old, fault.new), spec.origin, "exec"), faulty.__dict__)
        yield importlib.import_module(module)
    finally:
        for name in [name for name in sys.modules if name.startswith(_PACKAGES)]:
            del sys.modules[name]
        sys.modules.update(kept)

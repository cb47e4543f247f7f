"""Mistakes in the source of a unit or of software, to see that the tests find them."""

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

_PACKAGES = ("ctm.rtl.border", "ctm.rtl.fp", "ctm.rtl.lib", "ctm.rtl.dpp", "ctm.rtl.pe", "ctm.rtl.r5xx")


@dataclass(frozen=True)
class Fault:
    """A text of a module's source that occurs once, and its replacement.

    The module is named below `ctm`: "rtl.fp.rounding".
    """

    module: str
    old: str
    new: str


def faults_in(module: str, *changes: tuple[str, str]) -> list[Fault]:
    """A fault for each change of a text in a module into something else."""
    return [Fault(module, old, new) for old, new in changes]


def checks(module: str) -> Any:
    """A module of the suite's tests, named below `ctm.tb`, whose tests are to find a fault."""
    return importlib.import_module(f"ctm.tb.{module}")


class FaultyLoader(SourceFileLoader):
    """Loads a module from source with a mistake in it, its `source`; a finder of that one module, too.

    Raises
    ------
    ValueError
        The text does not occur exactly once: the source has changed, and the fault must follow.
    """

    def __init__(self, fault: Fault) -> None:
        spec = importlib.util.find_spec(f"ctm.{fault.module}")
        assert spec is not None and spec.origin is not None
        super().__init__(spec.name, spec.origin)
        source = Path(spec.origin).read_text()
        if source.count(fault.old) != 1:
            raise ValueError(f"{fault.module} has {source.count(fault.old)} times {fault.old!r}")
        self.source = source.replace(fault.old, fault.new)

    def get_code(self, fullname: str) -> CodeType:
        return compile(self.source, self.path, "exec")

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        return importlib.util.spec_from_loader(fullname, self) if fullname == self.name else None


def faulty_module(fault: Fault) -> ModuleType:
    """A module of its own with the fault; the one that others import is unchanged. `ValueError` as `FaultyLoader`."""
    loader = FaultyLoader(fault)
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


@contextmanager
def planted_in_all(fault: Fault, packages: tuple[str, ...]) -> Iterator[None]:
    """A mistake, and all modules imported anew whose names begin with one of `packages`.

    These are those of the fault's module and of everything that imports it.

    Raises
    ------
    ValueError
        As `FaultyLoader`.
    """
    faulty = FaultyLoader(fault)
    kept = {name: module for name, module in sys.modules.items() if name.startswith(packages)}
    for name in kept:
        del sys.modules[name]
    sys.meta_path.insert(0, faulty)
    try:
        yield
    finally:
        sys.meta_path.remove(faulty)
        for name in [name for name in sys.modules if name.startswith(packages)]:
            del sys.modules[name]
        sys.modules.update(kept)
        # Modules imported anew became attributes of packages that were not.
        for name, module in kept.items():
            package, _, leaf = name.rpartition(".")
            setattr(sys.modules[package], leaf, module)


@contextmanager
def planted(
    fault: Fault, module: str = "ctm.rtl.r5xx.units", packages: tuple[str, ...] = _PACKAGES
) -> Iterator[ModuleType]:
    """A module, imported with the fault in what it imports; see `planted_in_all`."""
    with planted_in_all(fault, packages):
        yield importlib.import_module(module)

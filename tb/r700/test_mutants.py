"""The checks are worth something: every mistake that is planted in the model is found."""

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType

import pytest

from ctm.tb.lib.planting import Fault, checks
from ctm.tb.r700.mutants import MUTANTS, Mutant

_PACKAGES = ("ctm.sim.golden.r700", "ctm.sim.golden.instruction_sets", "ctm.sim.golden.machine", "ctm.tb.r700")
"""What has to be imported anew to have a mistake in the model, and what runs the model."""
_QUICK = 4
"""Of so many mutants one is tried by the ordinary suite."""


class _Faulty(SourceFileLoader):
    """Loads a module from changed source; a finder of that one module, too."""

    def __init__(self, fault: Fault) -> None:
        spec = importlib.util.find_spec(f"ctm.{fault.module}")
        assert spec is not None and spec.origin is not None
        super().__init__(spec.name, spec.origin)
        source = Path(spec.origin).read_text()
        if source.count(fault.old) != 1:
            raise ValueError(f"{fault.module} has {source.count(fault.old)} places {fault.old!r}")
        self._source = source.replace(fault.old, fault.new)

    def get_code(self, fullname: str) -> CodeType:
        return compile(self._source, self.path, "exec")

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        return importlib.util.spec_from_loader(fullname, self) if fullname == self.name else None


@contextmanager
def planted(fault: Fault) -> Iterator[None]:
    """The model with a mistake. Unlike hardware it has tables that are made where packages are imported."""
    faulty = _Faulty(fault)
    kept = {name: module for name, module in sys.modules.items() if name.startswith(_PACKAGES)}
    for name in kept:
        del sys.modules[name]
    sys.meta_path.insert(0, faulty)
    try:
        yield
    finally:
        sys.meta_path.remove(faulty)
        for name in [name for name in sys.modules if name.startswith(_PACKAGES)]:
            del sys.modules[name]
        sys.modules.update(kept)
        # Modules imported anew became attributes of packages that were not.
        for name, module in kept.items():
            package, _, leaf = name.rpartition(".")
            setattr(sys.modules[package], leaf, module)


def run_check(mutant: Mutant) -> None:
    getattr(checks(f"r700.{mutant.module}"), mutant.check)(*mutant.arguments)


def find(mutant: Mutant) -> None:
    """Plant a mistake and see that its check fails, which holds without it."""
    run_check(mutant)
    with planted(mutant.fault), pytest.raises((AssertionError, IndexError)):
        run_check(mutant)
    run_check(mutant)


def test_mistakes_have_names() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 24


def test_each_mistake_has_its_place() -> None:
    for mutant in MUTANTS:
        _Faulty(mutant.fault)


@pytest.mark.parametrize("mutant", MUTANTS[2::_QUICK], ids=str)
def test_some_are_found(mutant: Mutant) -> None:
    find(mutant)


@pytest.mark.long
@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_all_are_found(mutant: Mutant) -> None:
    find(mutant)

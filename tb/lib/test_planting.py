"""Planted mistakes match the source: those of the long suite, too, without a run of it."""

import builtins
import importlib
import keyword
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ctm.tb.lib.planting import Fault, FaultyLoader

TOP = Path(__file__).parents[1]
KNOWN = 800
"""So many there are at least."""


def within(value: Any) -> Iterator[Fault]:
    """The mistakes in lists and tables of a module."""
    if isinstance(value, Fault):
        yield value
    elif isinstance(value, dict):
        yield from within(list(value.values()))
    elif isinstance(value, list | tuple | frozenset | set):
        for each in value:
            yield from within(each)


def planted() -> dict[Fault, str]:
    """Each mistake with the file that has it, among all that import `planting`."""
    found: dict[Fault, str] = {}
    for path in sorted(TOP.rglob("*.py")):
        file = path.relative_to(TOP)
        if "planting import" in path.read_text() and path != Path(__file__):
            module = importlib.import_module(".".join(("ctm.tb", *file.with_suffix("").parts)))
            found |= dict.fromkeys(within(list(vars(module).values())), str(file))
    return found


def problem(fault: Fault) -> str:
    """Why it cannot be planted; empty if it can."""
    try:
        loader = FaultyLoader(fault)
        compile(loader.source, loader.path, "exec")
    except (ValueError, AssertionError, SyntaxError) as error:
        return str(error) or "there is no such module"
    names = unknown_names(fault, Path(loader.path).read_text())
    return f"{fault.module} has no {', '.join(names)}, so that {fault.new!r} is no hardware" if names else ""


def unknown_names(fault: Fault, source: str) -> list[str]:
    """Names and attributes of `self` that the replacement has, but neither the module nor Python.

    Attributes of other values, and names of arguments, may come from elsewhere.
    """
    text = re.sub(r"'[^'\n]*'|\"[^\"\n]*\"", "", fault.new)
    used = re.findall(r"(?:(?<![\w.])|(?<=\bself\.))[A-Za-z_]\w*(?!\w)(?! *=(?!=))", text)
    known = {*re.findall(r"\w+", source), *dir(builtins), *keyword.kwlist}
    return sorted(set(used) - known)


def test_every_mistake_matches_the_source() -> None:
    mistakes = planted()
    assert len(mistakes) >= KNOWN
    problems = [f"{file}: {problem(fault)}" for fault, file in mistakes.items() if problem(fault)]
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (Fault("rtl.fp.rounding", "is nowhere", ""), "rtl.fp.rounding has 0 times 'is nowhere'"),
        (Fault("rtl.fp.rounding", "def ", "def ("), "times 'def '"),
        (Fault("rtl.fp.none", "", ""), "there is no such module"),
        (Fault("rtl.pe.walker", "walking = self.wavefront, Signal()", "walking = ("), "was never closed"),
        (Fault("rtl.pe.walker", "walking = self.wavefront", "walking = self.wave_front"), "has no wave_front, so that"),
        (Fault("rtl.pe.walker", "walking = self.wavefront", "walking = wave_front"), "has no wave_front, so that"),
    ],
)
def test_one_that_has_none_is_named(fault: Fault, message: str) -> None:
    assert message in problem(fault)

"""Imports what a mutant cannot change before processes are forked: it takes seconds, and is the same in all of them."""

import ast
import importlib
import os
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from ctm.tb.mutation.mutants import TOP

_PACKAGE = "ctm"
# Threads of linear algebra would not be there after a fork.
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")


def preload(tests: Iterable[Path], target: Path) -> None:
    """Import what tests need of other packages, and of the project what cannot import the file `target`.

    Raises
    ------
    RuntimeError
        The target is imported all the same.
    """
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    graph = _graph(tests)
    reaching = _reaching(graph, target)
    import_all(name for name in graph if name not in reaching)
    if any(Path(str(getattr(module, "__file__", None))).resolve() == target for module in list(sys.modules.values())):
        raise RuntimeError(f"{target} is imported by what does not name it")


def import_all(names: Iterable[str]) -> None:
    """Import modules; what is none, or cannot be imported, is left to the tests that need it."""
    for name in names:
        try:
            importlib.import_module(name)
        except Exception:
            # A test that needs it says so, or skips itself.
            continue


def _graph(tests: Iterable[Path]) -> dict[str, set[str]]:
    """All modules that tests lead to, and which others each imports; those come before it where they can."""
    graph: dict[str, set[str]] = {}
    seen: set[str] = set()

    def visit(name: str) -> None:
        if name in seen:
            return
        seen.add(name)
        imported: set[str] = set()
        if name.startswith(f"{_PACKAGE}."):
            path = _path(name)
            imported = {*_packages(name), *(_imports(path) if path else ())} - {_PACKAGE, name}
        for each in sorted(imported):
            visit(each)
        graph[name] = imported

    for test in tests:
        for name in _imports(test):
            if name != _PACKAGE:
                visit(name)
    return graph


def _reaching(graph: dict[str, set[str]], target: Path) -> set[str]:
    """The modules whose import can import the target."""
    found = {name for name in graph if name.startswith(f"{_PACKAGE}.") and _may_be(name, target)}
    while True:
        more = {name for name, imported in graph.items() if imported & found} - found
        if not more:
            return found
        found |= more


def _may_be(name: str, target: Path) -> bool:
    """Whether a module is the target, or a name of the package `ctm`, which imports any module when it is used."""
    path = _path(name)
    if path is None:
        return name.count(".") == 1 and not TOP.joinpath(*name.split(".")[1:]).is_dir()
    return path == target


def _packages(name: str) -> list[str]:
    """The packages of a module, whose own files are imported before it."""
    names = name.split(".")
    return [".".join(names[:count]) for count in range(2, len(names))]


@cache
def _path(name: str) -> Path | None:
    """The file of a module of the project; None if it has none, and of what is no module."""
    names = name.split(".")
    for folder in (TOP.joinpath(*names[1:]), TOP.joinpath("src", *names)):
        for path in (folder.with_suffix(".py"), folder / "__init__.py"):
            if path.exists():
                return path.resolve()
    return None


@cache
def _imports(path: Path) -> tuple[str, ...]:
    """The modules that a file may import; of ``from a import b`` both ``a`` and ``a.b``."""
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.append(node.module)
            if node.module.partition(".")[0] == _PACKAGE:
                found += (f"{node.module}.{alias.name}" for alias in node.names)
    return tuple(found)

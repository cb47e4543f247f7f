"""Imports a mutant instead of its module, in this process and in those that it starts.

Whatever imports the file gets the mutant, by any name: it is compiled where Python's loader reads a source file.
"""

import os
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType

from ctm.tb.mutation.mutants import Mutant, Source, of_name

VARIABLE = "CTM_MUTANT"
"""The environment variable with the name of the mutant."""
SITE = Path(__file__).resolve().parent / "site"
"""A folder whose module `sitecustomize` every Python process imports at its start."""

_usual = SourceFileLoader.get_code


class AlreadyImportedError(RuntimeError):
    """The module was imported before the mutant."""


def install(source: Source, mutant: Mutant) -> None:
    """Import a mutant instead of its file.

    Raises
    ------
    AlreadyImportedError
    """
    for module in list(sys.modules.values()):
        if _is_file(getattr(module, "__file__", None), source.path):
            raise AlreadyImportedError(f"{mutant.file} is imported already")
    code = compile(source.tree(mutant), str(source.path), "exec", dont_inherit=True)

    def get_code(self: SourceFileLoader, fullname: str) -> CodeType | None:
        # As the usual one is not asked, no file of byte code is read or written.
        return code if _is_file(self.get_filename(fullname), source.path) else _usual(self, fullname)

    SourceFileLoader.get_code = get_code  # type: ignore[assignment, method-assign]


def install_from_environment() -> None:
    """Import the mutant that the environment names instead of its file, here and in processes started from here.

    Raises
    ------
    ValueError
        There is no mutant of this name.
    AlreadyImportedError
    """
    name = os.environ.get(VARIABLE)
    if not name or SourceFileLoader.get_code is not _usual:
        return
    install(*of_name(name))
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if str(SITE) not in paths:
        os.environ["PYTHONPATH"] = os.pathsep.join([str(SITE), *filter(None, paths)])
    # Some processes are given this process's path.
    if str(SITE) not in sys.path:
        sys.path.append(str(SITE))


def _is_file(name: object, path: Path) -> bool:
    return isinstance(name, str) and Path(name).resolve() == path

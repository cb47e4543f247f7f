"""Gives functions that exist already the code of a mutant."""

import gc
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType

from ctm.tb.mutation.mutants import Mutant, Source

Key = tuple[str, int]
"""A function's qualified name, and its first line."""


class CannotSwapError(Exception):
    """The mutant's code does not fit into the functions that exist."""


class Functions:
    """All functions of some files that exist now."""

    def __init__(self, files: list[Path]) -> None:
        self._found: dict[tuple[Path, Key], list[FunctionType]] = {}
        paths: dict[str, Path | None] = {}
        wanted = set(files)
        # Those that are frozen are not listed.
        gc.unfreeze()
        for function in gc.get_objects():
            if type(function) is FunctionType:
                name = function.__code__.co_filename
                if name not in paths:
                    resolved = Path(name).resolve()
                    paths[name] = resolved if resolved in wanted else None
                path = paths[name]
                if path:
                    self._found.setdefault((path, _key(function.__code__)), []).append(function)

    def swap(self, source: Source, mutant: Mutant) -> None:
        """Give them the code of a mutant, which must be in a function none of which has run.

        Raises
        ------
        CannotSwapError
            Two functions have the same name in the same line, the mutant has other closures, or no function changes.
        """
        code = compile(source.tree(mutant), str(source.path), "exec", dont_inherit=True)
        changed: dict[Key, list[CodeType]] = {}
        for each in _inner(code):
            changed.setdefault(_key(each), []).append(each)
        count = 0
        for (path, key), functions in self._found.items():
            if path == source.path:
                if len(changed.get(key, [])) != 1:
                    raise CannotSwapError(f"{mutant.name}: {key[0]} is not there once")
                count += sum(function.__code__ != changed[key][0] for function in functions)
                for function in functions:
                    try:
                        function.__code__ = changed[key][0]
                    except ValueError as error:
                        raise CannotSwapError(f"{mutant.name}: {error}") from None
        if not count:
            raise CannotSwapError(f"{mutant.name}: no function has another code")


def _key(code: CodeType) -> Key:
    return code.co_qualname, code.co_firstlineno


def _inner(code: CodeType) -> Iterator[CodeType]:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _inner(each)

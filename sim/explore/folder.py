"""What a kernel may see of its folder: its own includes for Clang, and copies of the files that its job names."""

import os
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

_SUFFIXES = (".c", ".h", ".inc")
_MOST_FILES = 1000
_MOST_BYTES = 1 << 26
"""Of a file that a job names."""


class OutsideError(ValueError):
    """A name that leads out of the kernel's folder."""


def includes(folder: Path) -> dict[str, Path]:
    """The sources and headers in a folder and below it, by their names there.

    Files and links that lead out of it are left out, and so are folders that are links, or whose names begin with a
    dot. Of a large folder it is the first thousand files.
    """
    top = folder.resolve()
    found: dict[str, Path] = {}
    seen = 0
    for directory, folders, names in os.walk(top):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            seen += 1
            if seen > _MOST_FILES:
                return found
            path = Path(directory, name)
            if path.suffix in _SUFFIXES and (file := _inside(path, top)) is not None:
                found[str(path.relative_to(top))] = file
    return found


def copy_named(job: str, folder: Path, target: Path) -> None:
    """Copy what a job's text names in a folder into another one, where nothing else is.

    Raises
    ------
    OutsideError
        A name leads out of the folder.
    tomllib.TOMLDecodeError, OSError
        The text is no TOML; a file cannot be copied.
    """
    top = folder.resolve()
    for name in _texts(tomllib.loads(job)):
        file = name.rpartition(":")[0] or name
        pure = PurePosixPath(file)
        if pure.is_absolute() or ".." in pure.parts:
            raise OutsideError(f"'{name}' is not in the kernel's folder")
        try:
            exists = (top / pure).is_file()
        except (OSError, ValueError):
            # Too long, or no name at all.
            continue
        if not exists:
            continue
        found = _inside(top / pure, top)
        if found is None:
            raise OutsideError(f"'{name}' is not in the kernel's folder")
        if found.stat().st_size > _MOST_BYTES:
            raise OutsideError(f"'{name}' has more than {_MOST_BYTES >> 20} MiB")
        (target / pure).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(found, target / pure)


def _inside(path: Path, top: Path) -> Path | None:
    """The regular file that a path leads to, None if there is none or it is not below `top`."""
    try:
        found = path.resolve(strict=True)
    except (OSError, RuntimeError):
        return None
    return found if found.is_file() and found.is_relative_to(top) else None


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)

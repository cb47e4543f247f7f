"""The sources that a program comes from: their names in its line table, and their text where it is at hand."""

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from ctm.sim.elf.executable import Executable
from ctm.sim.elf.lines import Line, Lines

_E = TypeVar("_E", bound=Executable)


def checksum(text: str) -> int:
    """A number, never 0, that another text of a source most likely has not; ends of lines do not count."""
    return zlib.crc32(text.replace("\r\n", "\n").encode(errors="surrogatepass")) or 1


def shown(name: str, folder: Path | None = None) -> str:
    """The name of a source file in a line table, which says nothing of the machine that it is made on.

    An absolute path is relative to `folder` or the current one if it is below one of them, else the bare name.
    """
    path = Path(name)
    for each in (folder, Path.cwd()):
        if each is not None and path.is_absolute() and path.is_relative_to(each):
            return path.relative_to(each).as_posix()
    return path.name if path.is_absolute() else name


def with_lines(executable: _E, lines: Lines | None) -> _E:
    """The program with another line table, or without one."""
    program: Any = executable
    found: _E = replace(program, lines=lines)
    return found


def with_sources(executable: _E, texts: Mapping[str, str]) -> _E:
    """The program with the texts and checksums of the files that its lines name, and their names as `shown`.

    `texts` are those of files that have been read; others are read where they can be.
    """
    lines = executable.lines
    if lines is None:
        return executable
    found = {**lines.texts, **texts}
    for file in lines.files:
        if file not in found and (text := _read(Path(file))) is not None:
            found[file] = text
    found = {file: text for file, text in found.items() if file in lines.files}
    checksums = {**lines.checksums, **{file: checksum(text) for file, text in found.items()}}
    return with_lines(executable, replace(lines, checksums=checksums, texts=found).renamed(shown))


def source_text(lines: Lines, line: Line, folders: Iterable[Path] = ()) -> str | None:
    """The text of a line, without its margins; None where the source is not there or has changed.

    Files are looked for from the current folder, then in `folders`, there by their bare names too.
    """
    text = lines.texts.get(line.file)
    if text is None:
        text = _unchanged(lines, line.file, folders)
    if text is None:
        return None
    all_lines = text.replace("\r\n", "\n").split("\n")
    found = all_lines[line.line - 1] if line.line <= len(all_lines) else ""
    return "".join(each if each.isprintable() else " " for each in found).strip() or None


def with_texts(executable: _E, folders: Iterable[Path] = ()) -> _E:
    """The program with the texts of its sources that are there and have not changed; see `source_text`."""
    lines, folders = executable.lines, list(folders)
    if lines is None:
        return executable
    found = {file: lines.texts.get(file) or _unchanged(lines, file, folders) for file in lines.files}
    return with_lines(executable, replace(lines, texts={file: text for file, text in found.items() if text}))


def _unchanged(lines: Lines, file: str, folders: Iterable[Path]) -> str | None:
    wanted = lines.checksums.get(file)
    if wanted is None:
        return None
    paths = [Path(file), *(folder / name for folder in folders for name in (file, Path(file).name))]
    texts = (_read(path) for path in dict.fromkeys(paths))
    return next((text for text in texts if text is not None and checksum(text) == wanted), None)


_LARGEST = 1 << 24
"""Bytes of a file that is read."""


def _read(path: Path) -> str | None:
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST:
            return None
        return path.read_bytes().decode("utf-8-sig")
    except (OSError, ValueError):
        return None

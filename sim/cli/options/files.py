"""Files that users name: the ending that a name must have, and what a file is that a command does not take."""

from pathlib import Path

from ctm.rtl.isa.executable import ELF_MAGIC
from ctm.sim.cli.outcome import BadInput
from ctm.sim.compiler.source import SUFFIXES
from ctm.sim.files import is_stream

PAGE = (".html", ".htm")
"""Endings of a page for a browser."""
EXECUTABLE, KERNEL, ASSEMBLY, COMPILED = ".elf", ".c", ".s", ".json"
_KINDS = {
    EXECUTABLE: "an executable: ctm disasm and ctm info read it",
    KERNEL: "a kernel: ctm cc compiles it",
    ASSEMBLY: "a source in assembly: ctm asm assembles it",
    ".toml": "a job: ctm run runs it",
    COMPILED: "a compiled program: ctm import makes an executable of it",
}
_HEADER = b"<ctm/kernel.h>"


def check_ending(option: str, path: Path | None, endings: tuple[str, ...]) -> None:
    """Reject the name of a file that has none of these endings; a FIFO or a device has any name.

    Raises
    ------
    BadInput
        With the endings that there are.
    """
    if path is not None and not is_stream(path) and not path.name.lower().endswith(endings):
        raise BadInput(f"{option} {path}: its name must end in {' or '.join(endings)}")


def explained(error: Exception, name: str, data: bytes, *, wanted: str) -> Exception:
    """The error about a file; if the file is none of the `wanted` kind, one line that says what it is instead."""
    kind = _kind(name, data)
    return error if kind in ("", wanted) else BadInput(f"{name}: it is {_KINDS[kind]}")


def _kind(name: str, data: bytes) -> str:
    """The kind of a file by its contents, else by its name; empty if neither says it."""
    if data.startswith(ELF_MAGIC):
        return EXECUTABLE
    suffix = Path(name).suffix.lower()
    if _HEADER in data or suffix in SUFFIXES:
        return KERNEL
    return suffix if suffix in _KINDS else ""

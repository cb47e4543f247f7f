"""The source of a kernel."""

from dataclasses import dataclass
from pathlib import Path

from ctm.sim.compiler.error import Diagnostic, KernelError, Location
from ctm.sim.files import read_file

_PYTHON = ".py"
SUFFIXES = (".c", _PYTHON)
"""How names of sources end."""


def kernel_in(name: str) -> tuple[str, str | None]:
    """The file that a name means, and the kernel in it if the name says one: `file.py:kernel`."""
    file, colon, kernel = name.rpartition(":")
    return (file, kernel) if colon and Path(file).suffix in SUFFIXES else (name, None)


@dataclass(frozen=True)
class Source:
    """The text of a source, the name that messages give it, and where its own includes are looked for."""

    text: str
    name: str
    folder: Path = Path()

    @property
    def is_python(self) -> bool:
        """Whether it is Python, by its name; anything else is C."""
        return self.name.endswith(_PYTHON)

    @staticmethod
    def read(path: Path) -> "Source":
        """The source in a file.

        Raises
        ------
        OSError
            It cannot be read.
        KernelError
            It is no text.
        """
        contents = read_file(path)
        try:
            text = contents.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = contents.count(b"\n", 0, error.start) + 1
            message = f"it is not UTF-8 text (byte {error.start})"
            raise KernelError([Diagnostic(Location(str(path), line), message)]) from None
        if "\0" in text:
            line = text.count("\n", 0, text.index("\0")) + 1
            raise KernelError([Diagnostic(Location(str(path), line), "it has a zero byte, so it is no text")])
        return Source(text, str(path), path.parent)

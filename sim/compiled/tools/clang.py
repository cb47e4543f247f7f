"""The Clang of the Python package `ziglang`, for the code of large models.

It compiles such code in a quarter of the time that g++ takes, to a fifth fewer instructions. Only object files come
from it, made with the headers of g++'s library, so that g++ links them and there is no second C++ library.
"""

import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from ctm.sim.compiled.tools.package import CLANG

CACHE_VARIABLE = "ZIG_GLOBAL_CACHE_DIR"
"""What names the folder in which it leaves a copy of all that it makes."""
# As other compilers' defaults; the code may run on another computer that shares the cache folder.
_FLAGS = ("-g0", "-fno-sanitize=all", "-mcpu=baseline", "-nostdinc++")


def clang_beside(command: Sequence[str]) -> tuple[tuple[str, ...], str] | None:
    """Command and version of Clang with the library of another compiler.

    None if the package is missing, or if the compiler does not say where its library's headers are.
    """
    headers = _library_headers(tuple(command)) if CLANG.is_installed else ()
    if not headers:
        return None
    options = (f"-I{folder}" for folder in headers)
    return (str(CLANG.folder / "zig"), "c++", *_FLAGS, *options), f"{CLANG.distribution} {CLANG.version}"


@cache
def _library_headers(command: tuple[str, ...]) -> tuple[str, ...]:
    """The folders of the C++ library's headers, as g++ lists them beside all others that it searches."""
    found_folders = subprocess.run(
        [*command, "-E", "-x", "c++", "-v", "/dev/null"], capture_output=True, text=True, check=False
    )
    folders = (line.strip() for line in found_folders.stderr.splitlines() if line.startswith(" /"))
    return tuple(folder for folder in folders if "c++" in Path(folder).parts)

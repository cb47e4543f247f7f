"""The Clang of the Python package `ziglang`: from C to IR, and from IR to an object. It writes no files."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from ctm.sim.compiled.tools.package import Package
from ctm.sim.compiled.tools.programs import Result, Tools
from ctm.sim.compiler.error import BackEndError, Diagnostic, KernelError, Location
from ctm.sim.compiler.ir.line_tags import LineTags
from ctm.sim.compiler.source import Source

CLANG = Package("ziglang", "ziglang", "kernels")
INCLUDE = Path(__file__).parent / "include"
"""Where kernels find ctm/kernel.h."""

_TARGET = ("--target=r600", "-mcpu=rv770", "-fno-crash-diagnostics", "-fno-color-diagnostics", "-O2")
_C = (
    "-x", "c", "-S", "-emit-llvm", "-o", "-", "-nostdinc", "-ffreestanding", "-DCTM_CORE", "-fno-caret-diagnostics",
    # For messages and line tables: lines, and names of values, so that a parameter has one.
    "-g1", "-fdebug-compilation-dir=.", "-fno-discard-value-names",
    # A comparison of what is never NaN is a mistake in most programs, but not an error.
    # Sums and products of integers wrap, as on every GPU. Memory may be accessed as other types.
    "-fwrapv", "-fno-strict-aliasing",
    "-fno-math-errno", "-fdenormal-fp-math=preserve-sign", "-Wno-unknown-pragmas", "-Wno-psabi",
)  # fmt: skip
_UNOPTIMISED = ("-Xclang", "-disable-llvm-passes")
_INLINE = ("-mllvm", "-inline-threshold=100000")
"""There is nothing that could be called."""
_IR = ("-x", "ir", "-Wno-override-module", "-fno-discard-value-names")
_MESSAGE = re.compile(r"(.+?):(\d+):(\d+): (fatal error|error|warning): (.*)")
_CRASH = re.compile(r"^\d+\.\s+(.+?):(\d+):(\d+): ", re.MULTILINE)
_OF_IR = re.compile(r"^(warning|error): (.+?:\d+:\d+): ", re.MULTILINE)
_UNREAD = "<stdin>:"
"""How errors of IR begin."""
_BACK_END = re.compile(r"(\S+?):(\d+):(\d+)\b")
_HINTS = {
    "' file not found": "; beside its own headers a kernel has ctm/kernel.h and what C has without a library",
    "call to undeclared function": "; docs/kernels.md has the functions that there are",
    "call to undeclared library function": "; docs/kernels.md has the functions that there are",
    **dict.fromkeys(
        ("unknown type name", "undeclared identifier 'float", "undeclared identifier 'int"),
        "; docs/kernels.md has the types that there are, such as vec4 and ivec2",
    ),
    "variable has incomplete type 'void'": "; a kernel is written `kernel void name(vec2 pixel)`",
}

KERNEL_FOLDER = Path("/kernel")
"""Where Clang finds a kernel's own files in `seeing_only`."""
_SEEN: ContextVar[tuple[str, ...]] = ContextVar("_SEEN", default=())


@contextmanager
def seeing_only(files: Mapping[str, Path], overlay: Path) -> Iterator[None]:
    """Let Clang read its own headers, those of this project, and these files, by their names in `KERNEL_FOLDER`.

    For Clang there is no other file then, whatever a source names, and however. `overlay` is a file that is written for
    Clang to read, see its `-ivfsoverlay`; it has to stay as long as the context.
    """
    own = [{"type": "directory-remap", "name": str(each), "external-contents": str(each)} for each in _headers()]
    roots = [
        {"type": "file", "name": str(KERNEL_FOLDER / name), "external-contents": str(file)}
        for name, file in files.items()
    ]
    rules = {"redirecting-with": "redirect-only", "use-external-names": False, "overlay-relative": False}
    overlay.write_text(json.dumps({"version": 0, "case-sensitive": True, **rules, "roots": [*own, *roots]}))
    token = _SEEN.set(("-ivfsoverlay", str(overlay)))
    try:
        yield
    finally:
        _SEEN.reset(token)


def intermediate(source: Source, flags: Sequence[str]) -> tuple[str, list[Diagnostic]]:
    """The IR of a source, and Clang's warnings.

    Raises
    ------
    KernelError
        Clang found errors, or failed itself.
    ToolchainError
        Clang is missing.
    """
    name = source.name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    headers = (option for folder in _headers() for option in ("-isystem", str(folder)))
    folders = ["-iquote", str(source.folder), *headers]
    result = _clang([*_C, *_UNOPTIMISED, *flags, *folders, "-"], f'# 1 "{name}"\n{source.text}'.encode())
    printed = result.stderr.decode(errors="replace")
    found = list(_messages(printed))
    errors = [said for kind, said in found if kind != "warning"]
    if errors:
        raise KernelError(errors)
    if result.returncode:
        raise KernelError([Diagnostic(_crash(printed, source), "Clang fails here: write it differently")])
    return result.stdout.decode(), [said for kind, said in found if kind == "warning"]


def optimised(text: str, flags: Sequence[str], source: Source) -> tuple[str, list[Diagnostic]]:
    """The IR of a source after Clang's own optimiser, and its warnings; instructions keep their locations.

    Raises
    ------
    KernelError
        Clang failed.
    BackEndError
        It is IR that Clang writes, but does not read.
    """
    tags = LineTags()
    result = _clang([*_IR, "-S", "-emit-llvm", "-o", "-", *_INLINE, *flags, "-"], tags.tagged(text).encode())
    printed = result.stderr.decode(errors="replace")
    if result.returncode and _UNREAD in printed:
        raise BackEndError(printed)
    if result.returncode:
        raise KernelError([Diagnostic(_crash(printed, source), "Clang fails here: write it differently")])
    # What is read as IR is told in another order than what is read as C.
    said = _messages(_OF_IR.sub(r"\2: \1: ", printed))
    return tags.restored(result.stdout.decode()), [each for kind, each in said if kind == "warning"]


def back_end(text: str, flags: Sequence[str]) -> bytes:
    """The object file of a module.

    Raises
    ------
    BackEndError
        LLVM rejected the module, or crashed.
    """
    result = _clang([*_IR, *_UNOPTIMISED, "-c", "-o", "-", *flags, "-"], text.encode())
    if not result.returncode:
        return result.stdout
    printed = result.stderr.decode(errors="replace")
    said = [line for line in printed.splitlines() if "error" in line.lower() or "Cannot select" in line]
    position = _BACK_END.search("\n".join(said))
    is_known = position is not None and not position[1].startswith("<")
    location = Location(position[1], int(position[2]), int(position[3])) if position and is_known else None
    raise BackEndError(said[0] if said else f"LLVM ended with status {result.returncode}", location)


def _clang(arguments: Sequence[str], given: bytes) -> Result:
    with Tools() as tools:
        command = [str(CLANG.folder / "zig"), "clang", *_TARGET, *_SEEN.get(), *arguments]
        return tools.start(command, given=given).result()


def _headers() -> tuple[Path, Path]:
    """Headers of this project, and those that C has without a library, such as stdint.h."""
    return INCLUDE, CLANG.folder / "lib" / "include"


def _messages(printed: str) -> list[tuple[str, Diagnostic]]:
    found = []
    for file, line, column, kind, text in _MESSAGE.findall(printed):
        hint = next((hint for phrase, hint in _HINTS.items() if phrase in text), "")
        message = re.sub(r"; ISO C99 .*| \[-W[^]]*\]$", "", text) + hint
        found.append((kind, Diagnostic(Location(file, int(line), int(column)), message)))
    return found


def _crash(printed: str, source: Source) -> Location:
    position = _CRASH.search(printed)
    return Location(position[1], int(position[2]), int(position[3])) if position else Location(source.name, 1)

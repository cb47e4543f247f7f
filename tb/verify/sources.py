"""Which sources a run was made with: those of the package, and those of the tests."""

import hashlib
from functools import cache
from pathlib import Path

from ctm.sim.sweep.versions import sources as package_sources

TOP = Path(__file__).resolve().parents[2]
_SUFFIXES = {".py", ".cc", ".h", ".toml"}
_DIGITS = 16


@cache
def sources() -> str:
    """A hash of the package's files on which results depend, and of all files of the tests."""
    digest = hashlib.sha256(package_sources().encode())
    top = TOP / "tb"
    for path in sorted(path for path in top.rglob("*") if path.suffix in _SUFFIXES):
        data = path.read_bytes()
        digest.update(f"{path.relative_to(top)} {len(data)}\n".encode() + data)
    return digest.hexdigest()[:_DIGITS]

"""What compiled models are made from, beside configurations."""

import hashlib
import importlib.metadata
from functools import cache
from pathlib import Path

from ctm import rtl
from ctm.sim.compiled.tools.package import YOSYS


@cache
def sources() -> str:
    """A hash of everything that the hardware is made from, but for the configuration."""
    folder = Path(rtl.__path__[0])
    digest = hashlib.sha256()
    # How it is translated is beside the hardware.
    files = [*folder.rglob("*.py"), *(folder.parent / "sim" / "compiled").rglob("*.py")]
    for path in sorted(files):
        text = path.read_bytes()
        digest.update(f"{path.relative_to(folder.parent)} {len(text)}\n".encode() + text)
    return f"{digest.hexdigest()} amaranth {importlib.metadata.version('amaranth')} yosys {YOSYS.version}"

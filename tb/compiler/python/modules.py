"""Python sources as modules, as users write them."""

import importlib.util
from pathlib import Path
from types import ModuleType

HEAD = "import math\nimport ctm\nfrom ctm.language import *\n"
"""The first lines of most sources here."""


def module(folder: Path, text: str, name: str = "kernels") -> ModuleType:
    """The module of a source, which is written to a folder and executed."""
    path = folder / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found

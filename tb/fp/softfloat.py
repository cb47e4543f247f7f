"""Berkeley SoftFloat on whole arrays, for comparisons of millions of operands."""

import ctypes
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import softfloatpy

from ctm.tb.lib.words import Words


@cache
def _library() -> ctypes.CDLL:
    source = Path(__file__).with_name("softfloat.cc")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "softfloat.so"
        subprocess.run(["g++", "-O2", "-shared", "-fPIC", str(source), "-o", str(target), "-ldl"], check=True)
        return ctypes.CDLL(str(target))


def multiply_add(a: Words, b: Words, c: Words) -> Words:
    """A * b + c by SoftFloat, with the machine's rules for denormals and NaNs."""
    core = next(Path(softfloatpy.__file__).parent.glob("_core*.so"))
    a, b, c = (np.ascontiguousarray(words, np.uint32) for words in (a, b, c))
    result = np.empty_like(a)
    pointers = (ctypes.c_void_p(words.ctypes.data) for words in (a, b, c, result))
    failure = _library().multiply_add(str(core).encode(), ctypes.c_uint64(a.size), *pointers)
    if failure:
        raise RuntimeError(f"{core} has no f32_mulAdd")
    return result

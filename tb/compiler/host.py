"""Kernels on the host: the same C, compiled for this computer by the same Clang, with the header's loop over pixels."""

import ctypes
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ctm.sim.compiler.clang import CLANG, INCLUDE

_TARGETS = 4
_FLAGS = ("-O1", "-fPIC", "-w", "-fwrapv", "-fno-math-errno", "-nostdlibinc")
_FUSED = ("-ffp-contract=on", "-mfma", "-DCTM_FUSED", "-O0")
"""Without optimisation: it makes numbers of products of known numbers, which are then rounded twice."""
_APART = ("-ffp-contract=off",)


class _Image(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("width", ctypes.c_int), ("height", ctypes.c_int)]


class _Launch(ctypes.Structure):
    """`struct ctm_launch` of ctm/host.h."""

    _fields_ = [
        ("width", ctypes.c_int), ("height", ctypes.c_int), ("inputs", ctypes.POINTER(_Image)),
        ("constants", ctypes.c_void_p), ("constant_count", ctypes.c_int), ("outputs", ctypes.c_void_p * _TARGETS),
        ("conditional", ctypes.c_void_p), ("memory", ctypes.c_void_p), ("memory_count", ctypes.c_int),
    ]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Launch:
    """What a kernel runs on: width and height of the domain; inputs [height, width, 4]; constants [n, 4] as words."""

    width: int
    height: int
    inputs: Mapping[int, np.ndarray] = field(default_factory=dict)
    constants: np.ndarray = field(default_factory=lambda: np.zeros((1, 4), np.uint32))
    dwords: int = 0


@dataclass(frozen=True, kw_only=True)
class Results:
    """Words that a kernel left: outputs [4, height, width, 4], conditional values [height, width], memory [dwords]."""

    outputs: np.ndarray
    conditional: np.ndarray
    memory: np.ndarray


class Library:
    """Compiled sources; with `is_fused` a product and a sum are rounded once."""

    def __init__(
        self, sources: Sequence[str], folder: Path, *, includes: Sequence[Path] = (), is_fused: bool = False
    ) -> None:
        options = [*(_FUSED if is_fused else _APART)]
        options += [f"-I{path}" for path in (*includes, INCLUDE, CLANG.folder / "lib" / "include")]
        objects = []
        for number, text in enumerate(sources):
            (folder / f"{number}.c").write_text(text)
            objects.append(str(folder / f"{number}.o"))
            command = [str(CLANG.folder / "zig"), "clang", *_FLAGS, *options, "-c", f"{number}.c", "-o", objects[-1]]
            subprocess.run(command, cwd=folder, check=True)
        library = folder / "kernels.so"
        subprocess.run(["g++", "-shared", *objects, "-o", str(library), "-lm"], check=True)
        self._library = ctypes.CDLL(str(library))
        self._of_integers = {name for text in sources for name in re.findall(r"kernel void (\w+)\(ivec2", text)}

    def run(self, kernel: str, launch: Launch, untouched: int) -> Results:
        """Run a kernel; `untouched` is the word that outputs hold before."""
        shape = (launch.height, launch.width)
        results = Results(
            outputs=np.full((_TARGETS, *shape, 4), untouched, np.uint32),
            conditional=np.full(shape, untouched, np.uint32),
            memory=np.full(launch.dwords, untouched, np.uint32),
        )
        images = (_Image * 16)()
        kept = {number: np.ascontiguousarray(array) for number, array in launch.inputs.items()}
        for number, array in kept.items():
            images[number] = _Image(array.ctypes.data, array.shape[1], array.shape[0])
        constants = np.ascontiguousarray(launch.constants)
        outputs = (ctypes.c_void_p * _TARGETS)(*(plane.ctypes.data for plane in results.outputs))
        described = _Launch(
            launch.width, launch.height, images, constants.ctypes.data, len(constants), outputs,
            results.conditional.ctypes.data, results.memory.ctypes.data, launch.dwords,
        )  # fmt: skip
        run = self._library.ctm_run_integers if kernel in self._of_integers else self._library.ctm_run
        run(getattr(self._library, kernel), ctypes.byref(described))
        return results

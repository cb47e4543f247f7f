"""The computer that compiled programs run on: what LLVM calls it, and how wide its vectors are."""

import os
from dataclasses import dataclass

from llvmlite import binding

_WIDTHS = {"avx512f": 16, "avx2": 8}
"""Floats of a vector, by the feature that it needs; the widest first."""
_NARROWEST = 4


@dataclass(frozen=True, kw_only=True)
class Host:
    """A processor by LLVM's names; `width` is the number of lanes of a compiled vector, 4, 8 or 16."""

    cpu: str
    features: str
    width: int
    fused: bool
    """Whether it has a fused multiply-add."""
    register: int
    """Lanes that one of its registers holds; a vector may take several."""

    @staticmethod
    def this(width: int | None = None) -> "Host":
        """The host of this process, with vectors of `width` lanes, or as wide as they go."""
        features = binding.get_host_cpu_features()
        widest = next((lanes for name, lanes in _WIDTHS.items() if features.get(name)), _NARROWEST)
        return Host(
            cpu=binding.get_host_cpu_name(),
            features=features.flatten(),
            width=width or widest,
            fused=bool(features.get("fma")),
            register=widest,
        )


BASELINE = Host(cpu="x86-64-v2", features="", width=_NARROWEST, fused=False, register=_NARROWEST)
"""What every computer of the last fifteen years does; without a fused multiply-add."""


def processors() -> int:
    """Processors of the host that this process may use."""
    return len(os.sched_getaffinity(0))

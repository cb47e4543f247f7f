"""The examples' jobs for R5xx cores; those with kernels in C and Python are for R700 cores."""

from ctm.examples.catalogue import FOLDER

_FOUND = sorted(FOLDER.glob("*/*.toml")) + sorted(FOLDER.glob("compiled/*/*.toml"))
JOBS = [path for path in _FOUND if not path.stem.endswith(("_c", "_py"))]
SHORT = ("bitonic", "blackscholes", "classify", "early_out", "matmul", "saxpy", "transpose")
"""The others take ten seconds and more."""

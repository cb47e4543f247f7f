"""The examples' jobs."""

from ctm.examples.catalogue import FOLDER

JOBS = sorted(FOLDER.glob("*/*.toml")) + sorted(FOLDER.glob("compiled/*/*.toml"))
SHORT = ("bitonic", "blackscholes", "classify", "early_out", "matmul", "saxpy", "transpose")
"""The others take ten seconds and more."""

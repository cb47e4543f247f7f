"""Packages of the extra `sweep`."""

from ctm.sim.compiled.tools.package import Package

PYARROW = Package("pyarrow", "pyarrow", "sweep")
DISTRIBUTED = Package("distributed", "distributed", "sweep")
CRYPTOGRAPHY = Package("cryptography", "cryptography", "sweep")

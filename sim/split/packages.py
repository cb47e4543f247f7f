"""The package of the extra `zarr`."""

from ctm.sim.compiled.tools.package import Package

ZARR = Package("zarr", "zarr", "zarr")

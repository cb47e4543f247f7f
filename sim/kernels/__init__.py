"""Kernels in Python: functions that run on a device, over a domain, on numpy arrays."""

from ctm.sim.kernels.python_kernel import PythonKernel, kernel

__all__ = ["PythonKernel", "kernel"]

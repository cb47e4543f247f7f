"""Kernels in C and Python become executables: Clang, repairs, checks, and a back end for each instruction set."""

from ctm.sim.compiler.error import KernelError
from ctm.sim.compiler.kernels import Kernel, compile_kernel, compile_translation, kernel_fetches

__all__ = ["Kernel", "KernelError", "compile_kernel", "compile_translation", "kernel_fetches"]

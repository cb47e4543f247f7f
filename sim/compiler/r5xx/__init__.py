"""Kernels for R5xx cores, for which LLVM has no back end: from its IR through structured code to assembler text."""

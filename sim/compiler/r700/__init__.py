"""Kernels for R700 cores: LLVM's R600 back end, between repairs of what it is given and checks of what it makes."""

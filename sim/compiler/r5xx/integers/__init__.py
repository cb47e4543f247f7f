"""Whole numbers as floats, before LLVM optimises: what it knows of bits and of wrapping is not true of floats."""

"""LLVM's intermediate representation as text, read as far as kernels need it."""

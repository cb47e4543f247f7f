"""R700 programs as LLVM IR."""

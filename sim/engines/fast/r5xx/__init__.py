"""R5xx programs as LLVM IR."""

"""Objects that LLVM makes for the RV770: read, repaired where LLVM is wrong for this chip, or rejected."""

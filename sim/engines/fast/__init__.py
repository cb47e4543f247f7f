"""Engine `fast`: programs compiled to the host's own instructions by LLVM, with the bits of the golden model."""

"""LLVM's arithmetic for R700 cores, in fewer groups: what a clause computes is taken apart and put together again."""

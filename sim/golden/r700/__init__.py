"""The R700 instruction set on the array: decoded instructions, and how a batch executes them."""

"""The R5xx instruction set on the array: decoded instructions, and how a batch executes them."""

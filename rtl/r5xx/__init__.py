"""The R5xx instruction set in hardware: a core of the array."""

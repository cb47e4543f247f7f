"""The R700 instruction set in hardware."""

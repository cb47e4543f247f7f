"""The R5xx instruction set's declarations: instruction words, codes, limits."""

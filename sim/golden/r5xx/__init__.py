"""The R5xx instruction set in the golden model."""

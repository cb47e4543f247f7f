"""The R5xx assembler's language."""

"""The R700 assembler's language; docs/assembler-r700.md describes it."""

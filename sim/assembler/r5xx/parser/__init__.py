"""Statements of the R5xx language, parsed."""

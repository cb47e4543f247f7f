"""Executables of R5xx programs."""

"""Decoding of code."""

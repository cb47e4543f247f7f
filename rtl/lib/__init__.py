"""Blocks that know nothing of the machine."""

"""Instruction words as source."""

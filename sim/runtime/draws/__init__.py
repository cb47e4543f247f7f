"""Draws: their state as commands, and their programs linked into one executable."""

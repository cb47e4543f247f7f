"""Draws: what becomes of vertices between the programs of a draw. Knows no instruction set."""

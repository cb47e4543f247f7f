"""Loops: how many rounds they have, and how they are left."""

"""Ports between the units of a core, each declared once."""

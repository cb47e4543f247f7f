"""Parsed operations into instruction words."""

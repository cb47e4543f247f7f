"""Interfaces between units: each signature and payload layout is declared once."""

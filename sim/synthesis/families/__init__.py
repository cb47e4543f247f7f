"""Families of FPGAs: how Yosys maps a unit to their cells, and how these are counted."""

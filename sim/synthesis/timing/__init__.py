"""Delays of a routed netlist, and its slow paths."""

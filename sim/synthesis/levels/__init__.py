"""How deep the logic of mapped units is, and which units a signal passes in one cycle."""

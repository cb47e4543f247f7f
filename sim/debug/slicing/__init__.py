"""Dynamic slices: the instructions, inputs and constants that made a value."""

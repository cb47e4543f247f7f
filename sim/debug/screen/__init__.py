"""A debug session on all of a terminal: source, instructions, registers, lanes and the picture that they make."""

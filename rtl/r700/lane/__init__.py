"""A lane: the arithmetic of ALU groups for one pixel."""

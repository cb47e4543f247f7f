"""A lane: what ALU groups compute for one pixel."""

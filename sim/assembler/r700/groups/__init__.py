"""Groups of ALU instructions: slots, literals, bank swizzles, and whether a group is legal."""

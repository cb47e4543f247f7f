"""The instruction store: instructions are read once and decoded once."""

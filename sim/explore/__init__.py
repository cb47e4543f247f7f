"""A kernel beside its instructions, its cycles and its output: what `ctm explore` shows."""

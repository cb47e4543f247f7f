"""A kernel beside its instructions, its cycles and its output: the user interface of `ctm explore`."""

"""The data parallel processors: what the cores of both instruction sets share."""

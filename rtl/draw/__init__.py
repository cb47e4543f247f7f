"""The graphics pipeline: vertices, shapes, strips, and the order of these."""

"""The data parallel processors: what executes R5xx instructions."""

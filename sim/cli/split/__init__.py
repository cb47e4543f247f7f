"""``ctm run --split``."""

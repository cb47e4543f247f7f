"""``ctm sweep``."""

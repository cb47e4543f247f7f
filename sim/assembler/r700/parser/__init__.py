"""From a text to statements and words."""

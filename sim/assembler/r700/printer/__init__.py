"""From words to a text."""

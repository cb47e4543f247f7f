"""The R700 programs of a draw: what they begin with, read and leave."""

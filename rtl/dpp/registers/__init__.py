"""Temporaries and output registers."""

"""Subcommand bench: performance figures."""

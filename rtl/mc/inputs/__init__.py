"""Lookups: two levels of input cache."""

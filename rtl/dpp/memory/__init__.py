"""Lookups and uncached writes of the array."""

"""Fetches and uncached writes of the array."""

"""Texture fetches: two levels of input cache."""

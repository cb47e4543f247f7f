"""Texture instructions."""

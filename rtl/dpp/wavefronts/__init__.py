"""Wavefronts from their start to their retirement."""

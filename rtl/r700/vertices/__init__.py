"""Vertex buffers of draws: formats of their elements, and addresses."""

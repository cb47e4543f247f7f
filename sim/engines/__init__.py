"""Engines: they execute command buffers. All run the same jobs through one protocol."""

"""Engines: things that execute command buffers. All run the same jobs behind one protocol."""

"""Processor execution unit: command buffers, program loader, domain walk."""

"""The command processor: command buffers, program loader, domain walk."""

"""The command processor: command buffers, the program loader, the domain walk.

It does not depend on the instruction set: it loads an image, dispatches wavefronts and waits for their end.
"""

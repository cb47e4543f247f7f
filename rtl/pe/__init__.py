"""The command processor: command buffers, the program loader, the domain walk.

It knows nothing of an instruction set: it loads an image, hands out groups and waits until they are done.
"""

"""The memory controller: where elements are, what they hold, and what is kept of them on the chip.

It knows nothing of an instruction set: a core asks it for pairs of inputs and gets words.
"""

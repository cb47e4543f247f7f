"""Units of a board beside the machine: a serial line, a bridge to registers and memory, bounds of memory."""

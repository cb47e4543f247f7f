"""The DPP array with its R5xx instruction set: decoded instructions, groups of processors, execution."""

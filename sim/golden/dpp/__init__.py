"""The array, whatever its instruction set: batches of groups, launches, what a program reads and writes, hazards."""

"""The array, whatever its instruction set: batches of wavefronts, launches, accesses to memory, hazards."""

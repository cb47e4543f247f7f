"""Machines of R700 cores unlike the preset, by what is special in them: settings of that."""

MACHINES: dict[str, dict[str, int | str]] = {
    "four cores": {"array.cores": 4},
    "two cores of eight slots, two banks, two local ports of 256 bits": {
        "array.cores": 2,
        "array.threads": 8,
        "shared_cache.banks": 2,
        "output_cache.banks": 2,
        "memory.local_ports": 2,
        "memory.data_bits": 256,
    },
    "a wavefront is four lanes": {"array.wavefront": 4, "array.threads": 64, "array.stack_entries": 64},
    "two passes, two cores": {"array.wavefront": 8, "array.cores": 2, "array.threads": 4, "array.lookups": 4},
    "eight passes, one port": {"array.wavefront": 32, "memory.split": 1 << 32, "array.stack_entries": 1024},
    "sixteen passes": {"array.wavefront": 64, "array.threads": 8},
    "a wavefront is eight lanes, two cores": {"array.wavefront": 0, "array.lanes": 8, "array.cores": 2},
    "sixteen lanes, four passes": {"array.wavefront": 64, "array.lanes": 16, "array.threads": 4},
    "one pixel in a cycle, one port": {
        "array.rate": 1,
        "array.threads": 4,
        "array.temporaries": 512,
        "array.lookups": 64,
        "array.stack_entries": 64,
        "memory.split": 1 << 32,
        "memory.outstanding_lines": 16,
        "input_cache.sets": 64,
        "input_cache.ways": 2,
        "shared_cache.ways": 2,
        "conditional_cache.ways": 2,
    },
    "two pixels in a cycle, two cores": {"array.rate": 2, "array.threads": 4, "array.cores": 2},
    "half a quad in a cycle, of a wavefront that is four lanes": {"array.wavefront": 4, "array.rate": 2},
    "four pixels of eight lanes in a cycle": {"array.lanes": 8, "array.wavefront": 32, "array.rate": 4},
    "hardly a register in the arithmetic": {
        f"arithmetic.{step}": 0
        for step in ("operands", "partial_products", "alignment", "addition", "normalisation", "rounding", "result")
    },
}

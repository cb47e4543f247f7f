"""Units of caches of lines: tags, free list, data RAM, coalescer."""

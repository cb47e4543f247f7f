"""The vertex grouper: indices to primitives, primitives to batches of vertices; and the store of what these export."""

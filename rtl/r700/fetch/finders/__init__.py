"""Units that find an element for each pixel of a micro-op: coordinates, words, or addresses."""

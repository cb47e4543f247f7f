"""A group in the lanes: operands, results, write-back."""

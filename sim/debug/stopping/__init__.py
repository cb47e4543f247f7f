"""Where a session stops: breakpoints by their texts, conditions, stores and hazards."""

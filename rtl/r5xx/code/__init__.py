"""Instructions: read, decoded once, kept."""

"""Tools that are called, how they are found, and what they make, kept in a cache."""

"""General-purpose registers."""

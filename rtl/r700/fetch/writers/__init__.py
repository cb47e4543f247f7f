"""Units that end a micro-op: they send its requests, or write."""

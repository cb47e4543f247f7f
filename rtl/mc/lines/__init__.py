"""What caches of lines are made of."""

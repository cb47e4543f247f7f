"""Programs to start from, and what numpy says that they compute."""

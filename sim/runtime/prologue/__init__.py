"""Programs that the runtime puts before a user's, by instruction set."""

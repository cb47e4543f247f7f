"""The threads of an engine, which run compiled code and no Python."""

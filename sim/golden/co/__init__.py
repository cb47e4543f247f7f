"""The conditional unit."""

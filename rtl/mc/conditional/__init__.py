"""The cache of the conditional unit's words."""

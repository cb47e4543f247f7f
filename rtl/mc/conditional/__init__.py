"""The cache of the conditional buffer."""

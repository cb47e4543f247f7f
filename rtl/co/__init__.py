"""The conditional unit: compares conditional values with the conditional buffer."""

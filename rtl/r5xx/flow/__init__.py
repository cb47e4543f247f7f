"""Flow-control instructions."""

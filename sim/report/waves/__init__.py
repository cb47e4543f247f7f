"""What lies beside a wave, so that a viewer explains a run."""

"""Large domains: a job in tiles, each a task of its own, with the results of one run."""

"""Many configurations over many jobs: points, what each measures, a table of them, and a page that compares them."""

"""What keeps a job from being run in tiles."""


class SplitError(Exception):
    """A job that cannot be split, or a split run that cannot go on; the message says why and what to do."""

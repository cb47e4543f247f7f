"""What ends a sweep."""


class SweepError(Exception):
    """A sweep that cannot run or go on; the message says what, where and what to do."""

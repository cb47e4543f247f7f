"""The error of a recorded draw that cannot be imported."""


class DrawError(ValueError):
    """What is missing or wrong in a recorded draw, or which state of it this machine does not have."""

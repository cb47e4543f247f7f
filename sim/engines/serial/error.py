"""What can go wrong between a host and a board."""


class BoardError(Exception):
    """The board cannot be reached, or is another one than was expected; the message names the port and what to do."""

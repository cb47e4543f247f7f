"""The error of an illegal instruction."""


class IllegalError(Exception):
    """An instruction is illegal; the message says why."""


def illegal_if(illegal: bool, reason: str) -> None:
    """Raise IllegalError with `reason` where `illegal`."""
    if illegal:
        raise IllegalError(reason)

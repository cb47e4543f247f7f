"""The error of what cannot be executed."""


class IllegalError(Exception):
    """An instruction is illegal; the message says why."""


def refuse(illegal: bool, reason: str) -> None:
    """Raise IllegalError with `reason` where `illegal`."""
    if illegal:
        raise IllegalError(reason)

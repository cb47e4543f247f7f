"""The error of a malformed executable."""


class ElfError(Exception):
    """A file that is no well-formed DPP executable; the message says what is wrong, and `offset` where, in bytes."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(f"at offset 0x{offset:x}: {message}")
        self.offset = offset

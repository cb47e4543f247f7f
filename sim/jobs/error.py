"""What is wrong with a job, said so that its author finds the place."""

from pathlib import Path


class JobError(Exception):
    """A job that cannot run; `str` is ``file:line: message``."""

    def __init__(self, file: Path, message: str, line: int | None = None) -> None:
        place = f"{file}:{line}" if line is not None else f"{file}"
        super().__init__(f"{place}: {message}")

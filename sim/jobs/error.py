"""What is wrong with a job, with its location in the job file."""

from pathlib import Path


class JobError(Exception):
    """A job that cannot run; `str` is ``file:line: message``."""

    def __init__(self, file: Path, message: str, line: int | None = None) -> None:
        location = f"{file}:{line}" if line is not None else f"{file}"
        super().__init__(f"{location}: {message}")

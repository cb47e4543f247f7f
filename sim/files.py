"""Files that users name: read whatever they are, and replaced completely or not at all.

A regular file is written under another name in its folder, which then replaces it, so that no process reads half of it
and the old contents are kept until then. Links are followed, mode and owner are kept. A device or a FIFO is
written into and never replaced. Every error is an OSError that names the file and the cause.
"""

import errno
import os
import secrets
import select
import stat
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

PATIENCE = 30.0
"""Seconds without a byte after which a FIFO counts as having no writer, and those that one waits for its reader."""
_LOOKS = 0.05
"""Seconds between looks for a reader."""

STANDARD_OUTPUT = "standard output"
STANDARD = Path("-")
"""What stands for standard input and output, where a command reads or writes these; it names no file elsewhere."""

_NO_RESERVATION = (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS)
"""What a file system says that cannot set space aside."""


def read_file(path: Path) -> bytes:
    """The contents of a regular file, or what comes through a FIFO.

    Raises
    ------
    OSError
        It cannot be read, is a folder or a device, or nothing comes through the FIFO for PATIENCE.
    """
    mode = path.stat().st_mode
    if stat.S_ISFIFO(mode):
        return _read_fifo(path)
    if stat.S_ISDIR(mode) or stat.S_ISREG(mode):
        return path.read_bytes()
    raise _error(errno.EINVAL, path, "it is a device, not a file that can be read to its end")


def read_text(path: Path) -> str:
    """The UTF-8 text in a file, without the byte order mark that some editors put before it; errors as `read_file`.

    Raises
    ------
    UnicodeDecodeError
        It is other text, or none.
    """
    return read_file(path).decode("utf-8-sig")


def write_file(path: Path, data: bytes | memoryview, *, make_folders: bool = False) -> None:
    """Make `data` the contents of a file, completely or not at all; `make_folders` makes those that are missing.

    Raises
    ------
    OSError
        It cannot be written; a regular file is then as it was.
    """
    with naming(path):
        if is_stream(path):
            with open_stream(path) as stream:
                stream.write(data)
        else:
            _check_replaceable(path)
            # The file itself, so that links to it stay links.
            target = Path(os.path.realpath(path))
            if make_folders:
                target.parent.mkdir(parents=True, exist_ok=True)
            _replace(target, data)


def write_result(path: Path, data: bytes) -> None:
    """Write to standard output if the path is STANDARD, else to a file, whose folders are made; errors as there."""
    if path == STANDARD:
        write_standard_output(data)
    else:
        write_file(path, data, make_folders=True)


def begin_file(path: Path) -> Path:
    """An empty file to fill that replaces `path`, which does not change until `end_file`; a stream itself.

    Raises
    ------
    OSError
        It cannot be written.
    """
    with naming(path):
        if is_stream(path):
            return path
        _check_replaceable(path)
        target = Path(os.path.realpath(path))
        partial = _partial(target)
        with partial.open("xb") as file, suppress(FileNotFoundError):
            _take_over(file.fileno(), target.stat())
    return partial


def end_file(partial: Path, path: Path) -> None:
    """Make what `begin_file` gave, and is filled now, the file `path`; errors as there."""
    if partial != path:
        with naming(path):
            partial.replace(os.path.realpath(path))


def read_standard_input() -> bytes:
    """What comes on standard input, to its end; errors as `read_file`."""
    with naming("standard input"), open(0, "rb", closefd=False) as file:
        return file.read()


def write_standard_output(data: bytes) -> None:
    """Write to standard output; errors as `write_file`."""
    with naming(STANDARD_OUTPUT), open(1, "wb", closefd=False) as file:
        file.write(data)


def try_files(sizes: Mapping[Path, int], *, make_folders: bool = False) -> None:
    """Find out before long work whether files of these sizes could all be written after it; nothing is changed.

    Parameters
    ----------
    sizes
        Bytes that each file will have, 0 where that is not known.
    make_folders
        Whether folders that are missing will be made.

    Raises
    ------
    OSError
        A file could not be written.
    """
    with ExitStack() as trials:
        for path, size in sizes.items():
            with naming(path):
                if not is_stream(path):
                    _check_replaceable(path)
                    _try_target(Path(os.path.realpath(path)), size, trials, make_folders)
                elif not os.access(path, os.W_OK):
                    raise _error(errno.EACCES, path)


def reserve(descriptor: int, size: int) -> None:
    """Make an open file `size` bytes long, with space for all of them where its file system can set that aside.

    Raises
    ------
    OSError
        There is no space.
    """
    try:
        os.posix_fallocate(descriptor, 0, size)
    except OSError as error:
        if error.errno not in _NO_RESERVATION:
            raise
        os.truncate(descriptor, size)


@contextmanager
def naming(file: Path | str) -> Iterator[None]:
    """Errors of the body name what the user named, such as STANDARD_OUTPUT, and not what is written in its stead."""
    try:
        yield
    except OSError as error:
        raise _error(error.errno or errno.EIO, file, error.strerror or str(error)) from None


def is_stream(path: Path) -> bool:
    """Whether a path is a FIFO or a device such as /dev/null, into which one writes instead of replacing it."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def open_stream(path: Path) -> BinaryIO:
    """A FIFO or a device, open to be written into.

    Raises
    ------
    OSError
        It cannot be written, or nothing reads from the FIFO for PATIENCE.
    """
    # Without O_NONBLOCK, opening a FIFO waits for a reader, which may never come.
    end = time.monotonic() + PATIENCE
    while True:
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            if error.errno != errno.ENXIO or not path.is_fifo():
                raise
            if time.monotonic() >= end:
                raise _error(errno.ETIMEDOUT, path, f"nothing reads from this FIFO for {PATIENCE:g} s") from None
            time.sleep(_LOOKS)
        else:
            os.set_blocking(descriptor, True)
            return open(descriptor, "wb")


def is_same_file(one: Path, other: Path) -> bool:
    """Whether two paths are one file, also one that is not there yet; a FIFO or a device is no file."""
    try:
        return one.samefile(other) and not is_stream(one)
    except OSError:
        return os.path.realpath(one) == os.path.realpath(other)


def _read_fifo(path: Path) -> bytes:
    # Without O_NONBLOCK, opening a FIFO waits for a writer, which may never come.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    blocks = []
    try:
        while select.select([descriptor], [], [], PATIENCE)[0]:
            blocks.append(os.read(descriptor, 1 << 20))
            if not blocks[-1]:
                return b"".join(blocks)
    finally:
        os.close(descriptor)
    raise _error(errno.ETIMEDOUT, path, f"nothing came through this FIFO for {PATIENCE:g} s")


def _check_replaceable(path: Path) -> None:
    """Reject a target that must not, or cannot, be replaced."""
    if path == STANDARD:
        raise _error(errno.EINVAL, path, f"this is not written to {STANDARD_OUTPUT}; name a file")
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        raise _error(errno.EISDIR, path)
    if not stat.S_ISREG(mode):
        raise _error(errno.EINVAL, path, "it is no regular file, and is not replaced by one")
    # A rename would replace a read-only file, too, which its owner does not expect.
    if not os.access(path, os.W_OK):
        raise _error(errno.EACCES, path)


def _replace(path: Path, data: bytes | memoryview) -> None:
    partial = _partial(path)
    try:
        with partial.open("xb") as file:
            with suppress(FileNotFoundError):
                _take_over(file.fileno(), path.stat())
            file.write(data)
        partial.replace(path)
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def _partial(path: Path) -> Path:
    return path.with_name(f".ctm-{secrets.token_hex(8)}.partial")


def _take_over(descriptor: int, found: os.stat_result) -> None:
    """Give a new file the owner, where we may, and the mode of the one that it replaces."""
    with suppress(PermissionError):
        os.fchown(descriptor, found.st_uid, found.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(found.st_mode))


def _try_target(path: Path, size: int, trials: ExitStack, make_folders: bool) -> None:
    """Write a nameless file of `size` bytes in the folder of `path`; it is gone when the trials are over."""
    missing = [folder for folder in path.parents if not folder.exists()] if make_folders else []
    for folder in reversed(missing):
        folder.mkdir()
        trials.callback(_remove_folder, folder)
    file = trials.enter_context(tempfile.TemporaryFile(dir=path.parent))
    if size:
        reserve(file.fileno(), size)


def _remove_folder(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()


def _error(number: int, path: Path | str, cause: str | None = None) -> OSError:
    return OSError(number, cause or os.strerror(number), str(path))

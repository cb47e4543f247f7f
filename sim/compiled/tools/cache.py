"""A cache of compiled files in a folder of the user's, keyed by everything that they are made from.

A file's name is the hash of its key. It becomes visible by one rename, so builds may be interrupted and may run in
parallel. Its last bytes are a hash of its name and contents. A file that is damaged, or has another's name, is made
again: a damaged shared object would crash the process. The folder may be deleted at any time.
"""

import fcntl
import hashlib
import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from ctm.sim.compiled.error import ToolchainError

_NAME = "ctm"
_BUILD = "build-"
_FORMAT = "1"
"""Version of the form in which this module stores a file."""
_SEAL_BYTES = hashlib.sha256().digest_size
# Without a configuration of logging a warning is a line on standard error.
_log = logging.getLogger(__name__)


def cached(kind: str, key: Sequence[str], suffix: str, make: Callable[[Path, Path], None]) -> Path:
    """The cached file of this key; if there is none, ``make(folder, target)`` writes it in a temporary folder.

    It waits while another process makes the same file. A warning is logged then, where a file is damaged, and where the
    usual cache folder cannot be written.

    Raises
    ------
    ToolchainError
        The cache folder cannot be written.
    """
    name = _name(kind, key, suffix)
    # What is there may be used whether or not the folder can be written.
    usual = _usual_folder() / name
    if _is_there(usual):
        return usual
    file = cache_folder() / name
    try:
        with _only_one(file):
            if not _is_there(file):
                if file.exists():
                    _log.warning("%s is damaged and is made again", file)
                with _build_folder(file.parent) as folder:
                    target = folder / name
                    make(folder, target)
                    _seal(target)
                    target.replace(file)
    except OSError as error:
        raise ToolchainError(f"{error.filename or file.parent}: {error.strerror}") from None
    return file


def is_cached(kind: str, key: Sequence[str], suffix: str) -> bool:
    """Whether the cache has the file that `cached` would give."""
    return _is_there(_usual_folder() / _name(kind, key, suffix))


def _name(kind: str, key: Sequence[str], suffix: str) -> str:
    # Lengths, so that no two keys give the same text.
    text = "".join(f"{len(field)}:{field}" for field in (_FORMAT, *key))
    return f"{kind}-{hashlib.sha256(text.encode()).hexdigest()[:32]}{suffix}"


def cache_folder() -> Path:
    """The folder of the cache: ``$XDG_CACHE_HOME/ctm``, or ``~/.cache/ctm``; made if it is not there.

    Where that cannot be written, it is a folder of the user's among the system's temporary ones, and a warning says so.

    Raises
    ------
    ToolchainError
        That cannot be written either.
    """
    usual = _usual_folder()
    problem = _obstacle(usual)
    if problem is None:
        return usual
    other = Path(tempfile.gettempdir()) / f"{_NAME}-{os.getuid()}"
    if _obstacle(other) is not None or other.lstat().st_uid != os.getuid():
        raise ToolchainError(f"{usual}: {problem}; set XDG_CACHE_HOME to a folder for the cache")
    _tell_of(usual, problem, other)
    return other


def _usual_folder() -> Path:
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (base if base.is_absolute() else Path.home() / ".cache") / _NAME


def _obstacle(folder: Path) -> str | None:
    """Why a folder, which is made if it is not there, cannot be written; None if it can."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return None
    except OSError as error:
        return error.strerror


@cache
def _tell_of(usual: Path, problem: str, other: Path) -> None:
    """Say once that the cache is elsewhere."""
    _log.warning("%s: %s; compiled models are kept in %s, unless XDG_CACHE_HOME names a folder", usual, problem, other)


def _seal(file: Path) -> None:
    """Append the hash. Readers of ELF files ignore bytes after their end."""
    seal = _digest(file.name, file.read_bytes())
    with file.open("ab") as stream:
        stream.write(seal)


def _is_there(file: Path) -> bool:
    """Whether a file exists and ends with its hash; also removes what dead processes left in its folder."""
    _clear(file.parent)
    try:
        status = file.stat()
        return _has_seal(file, status.st_size, status.st_mtime_ns, status.st_ino)
    except OSError:
        return False


@cache
def _has_seal(file: Path, *_: int) -> bool:
    """Whether it ends with its hash; the other arguments make a changed file a new entry of the cache."""
    data = file.read_bytes()
    return _digest(file.name, data[:-_SEAL_BYTES]) == data[-_SEAL_BYTES:]


def _digest(name: str, data: bytes) -> bytes:
    return hashlib.sha256(name.encode() + data).digest()


@contextmanager
def _only_one(file: Path) -> Iterator[None]:
    """Let one process at a time make a file; the others wait, and then find it."""
    lock = file.with_name(f"lock-{file.stem}")
    with lock.open("w") as handle:
        if not _take(handle.fileno()):
            _log.warning("another process compiles the same; waiting for it ...")
            fcntl.flock(handle, fcntl.LOCK_EX)
        try:
            yield
        finally:
            # A waiting process has the file open, so its name may go.
            lock.unlink(missing_ok=True)


@contextmanager
def _build_folder(parent: Path) -> Iterator[Path]:
    """A temporary folder, with a lock on it as long as this process lives: see `_clear`."""
    while True:
        with tempfile.TemporaryDirectory(dir=parent, prefix=_BUILD, ignore_cleanup_errors=True) as name:
            # Until it is locked, another process may take it for that of a dead one, and remove it.
            try:
                handle = os.open(name, os.O_RDONLY)
            except FileNotFoundError:
                continue
            try:
                if _take(handle) and Path(name).exists():
                    yield Path(name)
                    return
            finally:
                os.close(handle)


def _clear(parent: Path) -> None:
    """Remove the build folders of processes that are no more."""
    for folder in parent.glob(f"{_BUILD}*"):
        try:
            handle = os.open(folder, os.O_RDONLY)
        except OSError:
            continue
        try:
            if _take(handle):
                shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(handle)


def _take(handle: int) -> bool:
    """Try to lock a file. Returns whether this process has the lock."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True

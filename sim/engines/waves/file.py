"""The file of a wave: whole or absent, whatever happens, and compressed if its name says so."""

import errno
import gzip
import os
import threading
from pathlib import Path
from typing import BinaryIO

from ctm.sim.engines.waves.window import COMPRESSED_VCD, FST, Waves
from ctm.sim.files import begin_file, end_file, is_stream, naming, open_stream

_PIPED = 1 << 18
_LEVEL = 3
"""Of gzip: a VCD with level 6 is a tenth smaller and takes twice as long."""


class WaveFile:
    """What a wave is written to; `path` keeps what it had until `close`.

    Parameters
    ----------
    waves
        Its path and format.
    path
        That path.

    Attributes
    ----------
    name
        The file that is filled.
    entry
        An open file into which a VCD goes, -1 for FST.

    Raises
    ------
    OSError
        It cannot be written.
    """

    def __init__(self, waves: Waves, path: Path) -> None:
        self._path = path
        self._is_fst = waves.suffix == FST
        if self._is_fst and is_stream(path):
            raise OSError(errno.EINVAL, "FST goes into a regular file only; .vcd does not", str(path))
        self.name = begin_file(path)
        self.entry = -1
        self._file: BinaryIO | None = None
        self._pipe: _Compression | None = None
        if not self._is_fst:
            with naming(path):
                self._file = open_stream(path) if is_stream(path) else self.name.open("wb")
            if waves.suffix == COMPRESSED_VCD:
                self._pipe = _Compression(self._file)
            self.entry = self._file.fileno() if self._pipe is None else self._pipe.entry

    @property
    def stream(self) -> BinaryIO:
        """The open file of a VCD that is not compressed."""
        assert self._file is not None
        return self._file

    def close(self, problem: int, *, is_begun: bool) -> None:
        """End it, as what the path names if there is something in it; `problem` is what its writer met, an errno.

        Raises
        ------
        OSError
            Some of it could not be written; FST cannot be read then, of VCD the beginning is kept.
        """
        found = OSError(problem, os.strerror(problem)) if problem else None
        for output in (self._pipe, self._file):
            try:
                if output is not None:
                    output.close()
            except OSError as error:
                # That of the pipe's other end is the cause of what its writer met.
                found = error if output is self._pipe else found or error
        with naming(self._path):
            if is_begun and not (found and self._is_fst):
                end_file(self.name, self._path)
            elif self.name != self._path:
                self.name.unlink(missing_ok=True)
            if found is not None:
                raise found


class _Compression:
    """A thread that compresses what comes through a pipe, whose one end is the file `entry`."""

    def __init__(self, target: BinaryIO) -> None:
        self._exit, self.entry = os.pipe()
        self._target = target
        self._problem: OSError | None = None
        self._thread = threading.Thread(target=self._compress, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Compress what remains; OSError: it could not be written."""
        os.close(self.entry)
        self._thread.join()
        if self._problem is not None:
            raise self._problem

    def _compress(self) -> None:
        with open(self._exit, "rb", buffering=0) as source:
            try:
                with gzip.GzipFile(filename="", mode="wb", fileobj=self._target, compresslevel=_LEVEL, mtime=0) as file:
                    while data := source.read(_PIPED):
                        file.write(data)
            except OSError as error:
                # Closing the pipe's end tells its writer.
                self._problem = error

"""A serial port, by what every Linux has: no package is needed."""

import fcntl
import os
import select
import termios
import time
from io import FileIO

from ctm.sim.engines.serial.error import BoardError

_READ = 1 << 16
_SPEEDS = {int(name[1:]): getattr(termios, name) for name in dir(termios) if name[0] == "B" and name[1:].isdigit()}
_AT = "@"


def parse(text: str, baud: int) -> tuple[str, int]:
    """Path and speed of ``PATH`` or ``PATH@BAUD``; `baud` where it has none.

    Raises
    ------
    BoardError
        There is no such speed.
    """
    path, found, speed = text.rpartition(_AT)
    if not found:
        path, speed = text, str(baud)
    if not speed.isdigit() or int(speed) not in _SPEEDS or not int(speed):
        fast = ", ".join(str(known) for known in sorted(_SPEEDS) if known >= 115_200)
        raise BoardError(f"port {text}: '{speed}' is no speed of a serial port; there are {fast}")
    return path, int(speed)


class SerialPort:
    """A port of 8 bits without parity or flow control, which no other process may open. A context, or `close` it.

    Raises
    ------
    BoardError
        It is not there, is no serial port, is in use, or (in `read` and `write` too) has gone.
    """

    def __init__(self, path: str, baud: int) -> None:
        self.name, self.baud = path, baud
        try:
            self._file = FileIO(os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK), "r+")
        except OSError as error:
            raise BoardError(f"{path}: {_hint(error)}") from None
        try:
            self._set_up()
        except termios.error:
            self.close()
            raise BoardError(f"{path}: this is no serial port") from None
        except OSError as error:
            self.close()
            raise BoardError(f"{path}: {_hint(error)}") from None

    def _set_up(self) -> None:
        fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        speed = _SPEEDS[self.baud]
        controls = termios.tcgetattr(self._file)[6]
        eight_bits = termios.CS8 | termios.CREAD | termios.CLOCAL
        termios.tcsetattr(self._file, termios.TCSANOW, [0, 0, eight_bits, 0, speed, speed, controls])
        termios.tcflush(self._file, termios.TCIOFLUSH)

    def write(self, data: bytes, patience: float) -> None:
        """Send bytes; an error if they are not taken in so many seconds."""
        end = time.monotonic() + patience
        while data:
            _, writable, _ = select.select([], [self._file], [], max(0.0, end - time.monotonic()))
            if not writable:
                raise BoardError(f"{self.name}: it takes no data")
            try:
                data = data[self._file.write(data) or 0 :]
            except OSError:
                raise self._gone() from None

    def read(self, patience: float) -> bytes:
        """What has come, at least a byte, or nothing after so many seconds."""
        readable, _, _ = select.select([self._file], [], [], patience)
        if not readable:
            return b""
        try:
            data = self._file.read(_READ)
        except OSError:
            raise self._gone() from None
        if data == b"":
            raise self._gone()
        return data or b""

    def close(self) -> None:
        """Give the port back."""
        self._file.close()

    def _gone(self) -> BoardError:
        return BoardError(f"{self.name}: the port has gone; was the cable pulled out?")


def _hint(error: OSError) -> str:
    """What the user can do about it."""
    if isinstance(error, FileNotFoundError):
        return "there is no such port; is the board connected?"
    if isinstance(error, PermissionError):
        return "no permission to use this port; its group, often 'dialout', must be yours"
    if isinstance(error, BlockingIOError):
        return "another program uses this port"
    return error.strerror or str(error)

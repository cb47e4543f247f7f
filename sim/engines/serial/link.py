"""Requests and responses over a port that may lose and change bytes."""

import time
from itertools import count
from typing import Protocol

from ctm.rtl.isa.link import BRINGS, HEADER, RESPONSE, Request, Verdict
from ctm.rtl.isa.word import pack
from ctm.sim.engines.serial.error import BoardError
from ctm.sim.engines.serial.frames import FrameReader, frame

_ATTEMPTS = 6
_PATIENCE = 0.25
"""Seconds that a response may take beside its transfer; a USB adapter may keep bytes for 16 ms."""
_LINE_BITS = 10
"""Of a byte on the line."""
_STUFFED = 2
"""A byte becomes two at most."""


class Port(Protocol):
    """Bytes in both directions."""

    name: str
    baud: int

    def write(self, data: bytes, patience: float) -> None:
        """Send bytes in at most so many seconds."""

    def read(self, patience: float) -> bytes:
        """What has come, or nothing after so many seconds."""


class Link:
    """Sends requests to a board and waits for its responses; a request without one is repeated.

    After a failure each further request fails at once, with the same error.
    """

    def __init__(self, port: Port, *, patience: float = _PATIENCE, attempts: int = _ATTEMPTS) -> None:
        self._port, self._patience, self._attempts = port, patience, attempts
        self._sequence = count(int(time.monotonic() * 1000))
        self._failure: BoardError | None = None
        self._is_known = False
        """Whether there was a response."""
        self.repeated = 0
        """Requests that were made once more."""

    @property
    def name(self) -> str:
        """The port's name."""
        return self._port.name

    @property
    def has_failed(self) -> bool:
        """Whether all further requests fail."""
        return self._failure is not None

    def ask(
        self, request: Request, *, address: int = 0, length: int = 0, data: bytes = b"", patience: float = 0.0
    ) -> bytes:
        """The data of the response: `length` bytes, or none if the request brings `data`.

        `patience` are seconds that the board needs to do it.

        Raises
        ------
        BoardError
            There is no response, or an invalid one.
        """
        if self._failure is not None:
            raise self._failure
        sequence = next(self._sequence) & 0xFF
        brings = request in BRINGS
        header = pack(
            HEADER, code=request.value, sequence=sequence, length=len(data) if brings else length, address=address
        )
        sent = frame(header.to_bytes(HEADER.size // 8, "little") + data)
        expected = 0 if brings else length
        try:
            verdict, found = self._exchange(request, sequence, sent, expected, patience)
            if verdict is Verdict.DONE:
                return found
            what = f"{request.name} of {header.to_bytes(HEADER.size // 8, 'little').hex()}"
            if verdict is Verdict.MALFORMED:
                raise BoardError(
                    f"{self.name}: the board does not know {what}; was its bitstream made by this version?"
                )
            raise BoardError(f"{self.name}: the board's memory or machine gives an error response to {what}")
        except BoardError as error:
            self._failure = error
            raise

    def _exchange(
        self, request: Request, sequence: int, sent: bytes, expected: int, patience: float
    ) -> tuple[Verdict, bytes]:
        """Verdict and data of the response."""
        heard, reader = 0, FrameReader()
        on_line = (len(sent) + _STUFFED * (expected + _LINE_BITS)) * _LINE_BITS / self._port.baud
        limit = self._patience + patience + on_line
        for attempt in range(self._attempts):
            self.repeated += attempt > 0
            self._port.write(sent, limit)
            end = time.monotonic() + limit
            while (left := end - time.monotonic()) > 0:
                data = self._port.read(left)
                heard += len(data)
                for content in reader.feed(data):
                    response = _response(content, request, sequence, expected)
                    if response is not None:
                        self._is_known = True
                        return response
        raise self._silence(heard)

    def _silence(self, heard: int) -> BoardError:
        if self._is_known:
            problem = "the board does not respond any more; was it switched off, or loaded anew?"
        elif heard:
            problem = f"what comes is no response; is this the board's port, and {self._port.baud} its speed?"
        else:
            problem = "the board does not respond; has it power, and its bitstream?"
        return BoardError(f"{self.name}: {problem}")


def _response(content: bytes, request: Request, sequence: int, expected: int) -> tuple[Verdict, bytes] | None:
    """Verdict and data of a response, None if this is none to this request."""
    if len(content) < 3 or content[0] != request.value | RESPONSE or content[1] != sequence:
        return None
    try:
        verdict = Verdict(content[-1])
    except ValueError:
        return None
    data = content[2:-1]
    is_right = len(data) == expected or verdict is not Verdict.DONE
    return (verdict, data) if is_right else None

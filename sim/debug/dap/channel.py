"""Messages of the Debug Adapter Protocol on a pair of streams: a header, and a JSON object of so many bytes."""

import json
from collections.abc import Iterator
from threading import Lock
from typing import Any, BinaryIO

_LENGTH = b"content-length"
_HEADERS = (_LENGTH, b"content-type")
_MOST_BYTES, _MOST_OF_LINE = 16 << 20, 4096


class ProtocolError(ValueError):
    """What came is no message of the protocol."""


class Channel:
    """Reads requests and sends responses and events; any thread may send."""

    def __init__(self, source: BinaryIO, target: BinaryIO) -> None:
        self._source, self._target = source, target
        self._lock, self._sent = Lock(), 0

    def requests(self) -> Iterator[dict[str, Any]]:
        """Requests up to the end of the stream.

        Raises
        ------
        ProtocolError
            Something else came.
        """
        while (length := self._length()) is not None:
            content = self._source.read(length)
            if len(content) < length:
                return
            try:
                message = json.loads(content)
            except (ValueError, RecursionError):
                raise ProtocolError("a message is no JSON") from None
            is_request = isinstance(message, dict) and message.get("type") == "request"
            if not is_request or not isinstance(message.get("seq"), int) or not isinstance(message.get("command"), str):
                raise ProtocolError("a message is no request: type, seq and command")
            yield message

    def respond(self, request: dict[str, Any], body: dict[str, Any] | None = None) -> None:
        """Send the result of a request."""
        self._send(
            type="response", request_seq=request["seq"], command=request["command"], success=True, body=body or {}
        )

    def reject(self, request: dict[str, Any], problem: str) -> None:
        """Say in one line why a request was not carried out."""
        error = {"id": 1, "format": "{problem}", "variables": {"problem": problem}, "showUser": True}
        self._send(
            type="response", request_seq=request["seq"], command=request["command"], success=False, message=problem,
            body={"error": error},
        )  # fmt: skip

    def tell(self, event: str, **body: Any) -> None:
        """Send an event."""
        self._send(type="event", event=event, body=body)

    def _send(self, **message: Any) -> None:
        with self._lock:
            self._sent += 1
            content = json.dumps({"seq": self._sent, **message}).encode()
            self._target.write(b"Content-Length: %d\r\n\r\n%b" % (len(content), content))
            self._target.flush()

    def _length(self) -> int | None:
        """Of the message that follows; None at the end of the stream."""
        length: int | None = None
        while line := self._source.readline(_MOST_OF_LINE):
            if not line.endswith(b"\n") and len(line) < _MOST_OF_LINE:
                return None
            name, colon, value = line.strip().partition(b":")
            if not name and length is not None:
                return length
            # Other headers are those of other protocols: a page in a browser can send to any port of this computer.
            if not colon or name.strip().lower() not in _HEADERS:
                raise ProtocolError("a message begins with its Content-Length, and an empty line after it")
            if name.strip().lower() == _LENGTH:
                if not value.strip().isdigit() or int(value) > _MOST_BYTES:
                    raise ProtocolError(f"a message has 0 to {_MOST_BYTES:,} bytes")
                length = int(value)
        return None

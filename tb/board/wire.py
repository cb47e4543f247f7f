"""Frames as the protocol's description has them, written apart from both of its ends; a serial line in simulation."""

import struct
import zlib
from typing import Any

from ctm.rtl.isa.link import Request


def stuffed(content: bytes) -> bytes:
    """Flag, content with its CRC and escapes, flag."""
    content += struct.pack("<I", zlib.crc32(content))
    return (
        b"\x7e"
        + b"".join(bytes([0x7D, byte ^ 0x20]) if byte in (0x7D, 0x7E) else bytes([byte]) for byte in content)
        + b"\x7e"
    )


def request(
    code: Request | int, sequence: int, *, address: int = 0, length: int | None = None, data: bytes = b""
) -> bytes:
    """The frame of a request; `length` is by default that of the data."""
    number = code.value if isinstance(code, Request) else code
    header = struct.pack("<BBHI", number, sequence, len(data) if length is None else length, address)
    return stuffed(header + data)


def contents(received: bytes) -> list[bytes]:
    """What was in the good frames among these bytes."""
    found = []
    for frame in received.split(b"\x7e"):
        plain = bytearray()
        remaining = iter(frame)
        for byte in remaining:
            plain.append(next(remaining, 0) ^ 0x20 if byte == 0x7D else byte)
        if len(plain) > 4 and zlib.crc32(plain[:-4]) == int.from_bytes(plain[-4:], "little"):
            found.append(bytes(plain[:-4]))
    return found


class Line:
    """Both directions of a serial line, a clock cycle at a time: bits go out on `receive` and come in on `transmit`."""

    def __init__(self, receive: Any, transmit: Any, period: int) -> None:
        self._receive, self._transmit, self._period = receive, transmit, period
        self._out: list[int] = []
        self._since, self._bits = -1, 0
        self.received = bytearray()

    def send(self, data: bytes) -> None:
        """Queue bytes."""
        for byte in data:
            for bit in (0, *(byte >> index & 1 for index in range(8)), 1):
                self._out += [bit] * self._period

    def send_levels(self, levels: list[int]) -> None:
        """Queue levels of single cycles."""
        self._out += levels

    @property
    def is_idle(self) -> bool:
        """Whether all has been sent, and nothing is coming."""
        return not self._out and self._since < 0

    def clock(self, context: Any) -> None:
        """In each cycle, in front of its edge."""
        context.set(self._receive, self._out.pop(0) if self._out else 1)
        level = context.get(self._transmit)
        if self._since < 0:
            if not level:
                self._since, self._bits = 0, 0
            return
        self._since += 1
        index, at = divmod(self._since, self._period)
        if at == self._period // 2:
            if 1 <= index <= 8:
                self._bits |= level << (index - 1)
            if index == 9:
                assert level, "a stop bit is 0"
                self.received.append(self._bits)
                self._since = -1

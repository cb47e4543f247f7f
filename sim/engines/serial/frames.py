"""Frames of the serial link in software; see `ctm.rtl.isa.link`."""

import zlib

from ctm.rtl.isa.link import ESCAPE, FLAG, FLIPPED

_CRC_BYTES = 4
_MOST = 1 << 16
"""Bytes between two flags that are worth keeping: more are noise."""
_STUFFED = {byte: bytes([ESCAPE, byte ^ FLIPPED]) for byte in (ESCAPE, FLAG)}


def frame(content: bytes) -> bytes:
    """What is sent of it: its CRC after it, escapes in it, flags around it."""
    content += zlib.crc32(content).to_bytes(_CRC_BYTES, "little")
    # The escape itself comes first in the table, else those of flags would be escaped again.
    for byte, stuffed in _STUFFED.items():
        content = content.replace(bytes([byte]), stuffed)
    return bytes([FLAG]) + content + bytes([FLAG])


class FrameReader:
    """Finds the contents of good frames in bytes as they come; all else is dropped without a word."""

    def __init__(self) -> None:
        self._waiting = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """The contents of frames that end in these bytes."""
        *ended, begun = (self._waiting + data).split(bytes([FLAG]))
        self._waiting = bytearray(begun[:_MOST])
        contents = (_content(bytes(section)) for section in ended)
        return [content for content in contents if content is not None]


def _content(stuffed: bytes) -> bytes | None:
    """The content of what stood between flags, None if that was no frame."""
    first, *others = stuffed.split(bytes([ESCAPE]))
    if not all(others):
        return None
    plain = first + b"".join(bytes([section[0] ^ FLIPPED]) + section[1:] for section in others)
    content, crc = plain[:-_CRC_BYTES], plain[-_CRC_BYTES:]
    is_good = len(plain) > _CRC_BYTES and zlib.crc32(content).to_bytes(_CRC_BYTES, "little") == crc
    return content if is_good else None

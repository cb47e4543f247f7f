"""The protocol between a host and the board that has the machine: frames of bytes over a serial line.

docs/design/board.md says why it is like this. Words are little-endian. A frame is `FLAG`, a request or a response and
its CRC, `FLAG`; of the bytes between the flags `FLAG` and `ESCAPE` are sent as `ESCAPE` and the byte with `FLIPPED`.
"""

from amaranth.lib import data, enum

from ctm.rtl.isa.limits import ADDRESS_BITS, BYTE_BITS, WORD_BITS

FLAG = 0x7E
ESCAPE = 0x7D
FLIPPED = 0x20
"""Bits that differ in a byte after `ESCAPE`."""

BAUD = 1_000_000
"""Bits per second of the line by default."""
MAGIC = 0x4D54_4342
"""The first word of the response to HELLO: 'BCTM'."""
PROTOCOL = 1
"""The version of all that this module says."""
LARGEST = 1024
"""Bytes of data that a request brings or asks for, at most."""
LINE_BYTES = 64
"""Memory is read, written and filled in lines."""
BLOCK_BYTES = 2048
"""A bit of the map of written memory stands for so many bytes."""
RESPONSE = 0x80
"""The bit that the code of a response adds to that of its request."""


class Request(enum.Enum, shape=BYTE_BITS):
    """What a host asks for; `length` is that of what it brings or asks for, in bytes.

    HELLO asks for `GREETING` and begins a conversation. READ_REGISTERS gives the words from `address` on, and
    WRITE_REGISTER brings one. READ_MEMORY and WRITE_MEMORY are about whole lines. CLEAR_MEMORY makes lines 0; it brings
    a word, the number of bytes. READ_WRITTEN gives the map of blocks that the machine has written, from that of
    `address` on, eight to a byte, the lowest first; CLEAR_WRITTEN makes all of it 0.
    """

    HELLO = 1
    READ_REGISTERS = 2
    WRITE_REGISTER = 3
    READ_MEMORY = 4
    WRITE_MEMORY = 5
    CLEAR_MEMORY = 6
    READ_WRITTEN = 7
    CLEAR_WRITTEN = 8


class Verdict(enum.Enum, shape=BYTE_BITS):
    """The last byte of a response, before its CRC."""

    DONE = 0
    BUS_ERROR = 1
    """A bus responded with an error; data mean nothing."""
    MALFORMED = 2
    """No such request, or a length or an address that it cannot have; there are no data."""


BRINGS = (Request.WRITE_REGISTER, Request.WRITE_MEMORY, Request.CLEAR_MEMORY)
"""Requests whose header is followed by `length` bytes of data."""
HEADER = data.StructLayout({"code": Request, "sequence": BYTE_BITS, "length": 2 * BYTE_BITS, "address": ADDRESS_BITS})
"""A request's first bytes. A response has `code` with `RESPONSE`, `sequence`, data, and a `Verdict`."""
FINGERPRINT_BITS = 64
GREETING = data.StructLayout(
    {
        "magic": WORD_BITS,
        "protocol": WORD_BITS,
        "fingerprint": FINGERPRINT_BITS,
        "memory_bytes": WORD_BITS,
        "frequency": WORD_BITS,
    }
)
"""What a board says of itself: its configuration's hash, the size of its memory, and its clock in Hz."""

"""A board without its FPGA: the protocol in Python, in front of the machine compiled by Verilator."""

import struct
from dataclasses import dataclass, field

import numpy as np

from ctm.rtl.board.identity import fingerprint
from ctm.rtl.config import MachineConfig
from ctm.rtl.isa.link import Request
from ctm.sim.engines.model import CompiledMachine, Disturbance
from ctm.sim.engines.rtl import RtlEngine
from ctm.sim.memory import Memory
from ctm.tb.board.wire import contents, stuffed

FREQUENCY = 10_000_000
_CYCLES = 2000
_DONE, _BUS_ERROR, _MALFORMED = range(3)
_BLOCK = 2048
_WORD = struct.Struct("<I")


@dataclass
class Greeting:
    """What the board says of itself."""

    magic: bytes = b"BCTM"
    protocol: int = 1
    fingerprint: int = 0
    memory_bytes: int = 1 << 20
    frequency: int = FREQUENCY


@dataclass
class Line:
    """What happens to bytes: of each byte that is lost, and changed, how often; the same for the same seed."""

    lost: float = 0.0
    changed: float = 0.0
    generator: np.random.Generator = field(default_factory=lambda: np.random.default_rng(3))

    def __call__(self, data: bytes) -> bytes:
        bytes_ = np.frombuffer(data, np.uint8)
        flips = (self.generator.random(len(data)) < self.changed) << self.generator.integers(0, 8, len(data))
        return (bytes_ ^ flips.astype(np.uint8))[self.generator.random(len(data)) >= self.lost].tobytes()


class StandIn:
    """Serves requests: called with bytes, it clocks the machine and returns bytes."""

    def __init__(self, config: MachineConfig, line: Line | None = None) -> None:
        self.memory = Memory()
        self.memory.bytes[: 1 << 16] = 0xA5
        self.machine = CompiledMachine(RtlEngine.library(config), config, self.memory, Disturbance())
        self.greeting = Greeting(fingerprint=fingerprint(config))
        self.memory.respond_with_errors(self.greeting.memory_bytes, 1 << 32)
        self.line = line or Line()
        self.requests: list[tuple[Request, int]] = []
        self.is_silent = False
        self.cycles = _CYCLES
        """Of the machine at each call."""
        self._waiting = b""
        self._last: int | None = None
        self._seen = self._image()

    def __call__(self, sent: bytes) -> bytes:
        self.machine.run(self.cycles)
        self._waiting += self.line(sent)
        whole, flag, remaining = self._waiting.rpartition(b"\x7e")
        if not flag:
            return b""
        self._waiting = b"\x7e" + remaining
        responses = b"".join(stuffed(self._response(content)) for content in contents(whole + flag))
        return b"" if self.is_silent else self.line(responses)

    def _image(self) -> np.ndarray:
        return self.memory.bytes[: self.greeting.memory_bytes].copy().reshape(-1, _BLOCK)

    def _response(self, content: bytes) -> bytes:
        code, sequence, length, address = struct.unpack("<BBHI", content[:8])
        request = Request(code)
        self.requests.append((request, sequence))
        is_repeated, self._last = sequence == self._last, sequence
        if request is Request.WRITE_REGISTER and is_repeated:
            return bytes([code | 0x80, sequence, _DONE])
        return bytes([code | 0x80, sequence]) + self._do(request, address, length, content[8:]) + bytes([_DONE])

    def _do(self, request: Request, address: int, length: int, data: bytes) -> bytes:
        greeting = self.greeting
        if request is Request.HELLO:
            return greeting.magic + struct.pack(
                "<IQII", greeting.protocol, greeting.fingerprint, greeting.memory_bytes, greeting.frequency
            )
        if request is Request.READ_REGISTERS:
            return b"".join(_WORD.pack(self.machine.read(address + 4 * word)) for word in range(length // 4))
        if request is Request.WRITE_REGISTER:
            self.machine.write(address, _WORD.unpack(data)[0])
        if request is Request.READ_MEMORY:
            return self.memory.read(address, length)
        if request is Request.WRITE_MEMORY:
            self._write(address, data)
        if request is Request.CLEAR_MEMORY:
            self._write(address, bytes(_WORD.unpack(data)[0]))
        if request is Request.READ_WRITTEN:
            written = (self._image() != self._seen).any(axis=1)
            return np.packbits(written, bitorder="little").tobytes()[address // _BLOCK // 8 :][:length]
        if request is Request.CLEAR_WRITTEN:
            self._seen = self._image()
        return b""

    def _write(self, address: int, data: bytes) -> None:
        """What the host writes is not what the machine has written."""
        self.memory.write(address, data)
        self._seen.reshape(-1)[address : address + len(data)] = np.frombuffer(data, np.uint8)

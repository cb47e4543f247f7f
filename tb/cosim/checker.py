"""Watches AXI4 and AXI4-Lite ports and raises at the first breach of the protocol.

Source: AMBA AXI and ACE protocol specification, A3 (handshake, bursts, responses) and B1 (AXI4-Lite).
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from cocotb.triggers import RisingEdge

PAGE = 4096
_INCREMENTING = 1
_EXOKAY = 1
_BITS = 8


class ProtocolError(AssertionError):
    """A violation of the protocol."""


class _Channel:
    """One channel: its handshake and the fields of its payload."""

    def __init__(self, dut: Any, prefix: str, name: str, fields: tuple[str, ...]) -> None:
        self.name = f"{prefix}_{name}"
        self._valid, self._ready = (getattr(dut, f"{prefix}_{name}{end}") for end in ("valid", "ready"))
        self._fields = {field: getattr(dut, f"{prefix}_{name}{field}") for field in fields}
        self._waiting: dict[str, int] | None = None

    def sample(self) -> dict[str, int] | None:
        """Look at a clock edge; what is handed over there."""
        if self._valid.value != 1:
            if self._waiting is not None:
                raise ProtocolError(f"{self.name}: valid fell before ready")
            return None
        payload = {name: int(signal.value) for name, signal in self._fields.items()}
        if self._waiting is not None and payload != self._waiting:
            raise ProtocolError(f"{self.name}: payload changed before ready: {self._waiting} to {payload}")
        taken = self._ready.value == 1
        self._waiting = None if taken else payload
        return payload if taken else None


def _check(holds: bool, name: str, text: str) -> None:
    if not holds:
        raise ProtocolError(f"{name}: {text}")


@dataclass
class _Burst:
    address: int
    beats: int
    returned: int = 0


@dataclass
class Counts:
    """What went over a port, to see that a test did something."""

    reads: int = 0
    writes: int = 0
    read_beats: int = 0
    write_beats: int = 0
    errors: int = 0


class MemoryPort:
    """The checks of an AXI4 port whose transactions have one ID, so that all responses come in order."""

    _ADDRESS = ("addr", "len", "size", "burst", "id")

    def __init__(self, dut: Any, prefix: str) -> None:
        self.prefix = prefix
        self._bytes = len(getattr(dut, f"{prefix}_wstrb"))
        names = {
            "aw": self._ADDRESS, "w": ("data", "strb", "last"), "b": ("id", "resp"), "ar": self._ADDRESS,
            "r": ("id", "data", "resp", "last"),
        }  # fmt: skip
        self.channels = {name: _Channel(dut, prefix, name, fields) for name, fields in names.items()}
        self.counts = Counts()
        self._reads: deque[_Burst] = deque()
        self._writes: deque[_Burst] = deque()
        self._beats: list[int] = []
        self._data: deque[list[int]] = deque()
        self._due_responses = 0

    def sample(self) -> None:
        """Look at a clock edge."""
        taken = {name: channel.sample() for name, channel in self.channels.items()}
        # Responses first: a transfer at this edge has no response at the same edge.
        if taken["b"] is not None:
            self._write_response(taken["b"])
        if taken["r"] is not None:
            self._read_beat(taken["r"])
        if taken["w"] is not None:
            self._write_beat(taken["w"])
        if taken["aw"] is not None:
            self._writes.append(self._burst("aw", taken["aw"]))
            self.counts.writes += 1
        if taken["ar"] is not None:
            self._reads.append(self._burst("ar", taken["ar"]))
            self.counts.reads += 1
        self._match()

    @property
    def outstanding(self) -> int:
        """Transactions that have no response yet."""
        return len(self._reads) + len(self._writes) + self._due_responses + len(self._data) + bool(self._beats)

    def _burst(self, channel: str, payload: dict[str, int]) -> _Burst:
        name, beats = self.channels[channel].name, payload["len"] + 1
        _check(payload["burst"] == _INCREMENTING, name, f"burst type {payload['burst']}")
        _check(1 << payload["size"] == self._bytes, name, f"size {payload['size']}")
        _check(payload["id"] == 0, name, f"ID {payload['id']}")
        start = payload["addr"] // self._bytes * self._bytes
        last = start + beats * self._bytes - 1
        _check(start // PAGE == last // PAGE, name, f"{beats} beats from 0x{start:08x} cross 4 KiB")
        return _Burst(payload["addr"], beats)

    def _write_beat(self, payload: dict[str, int]) -> None:
        self.counts.write_beats += 1
        self._beats.append(payload["strb"])
        if payload["last"]:
            self._data.append(self._beats)
            self._beats = []

    def _match(self) -> None:
        """Bring addresses and data of bursts together, whichever came first."""
        name = self.channels["w"].name
        if self._writes:
            _check(len(self._beats) < self._writes[0].beats or bool(self._data), name, "no last at a burst's end")
        while self._writes and self._data:
            burst, strobes = self._writes.popleft(), self._data.popleft()
            _check(len(strobes) == burst.beats, name, f"last at beat {len(strobes)} of {burst.beats}")
            below = (1 << burst.address % self._bytes) - 1
            _check(not strobes[0] & below, name, "strobe below a burst's address")
            self._due_responses += 1

    def _write_response(self, payload: dict[str, int]) -> None:
        name = self.channels["b"].name
        _check(self._due_responses > 0, name, "a response without a burst")
        self._due_responses -= 1
        self._response(name, payload)

    def _read_beat(self, payload: dict[str, int]) -> None:
        name = self.channels["r"].name
        _check(bool(self._reads), name, "data without a burst")
        burst = self._reads[0]
        burst.returned += 1
        self.counts.read_beats += 1
        _check(payload["last"] == (burst.returned == burst.beats), name, f"last is {payload['last']} at beat "
               f"{burst.returned} of {burst.beats}")  # fmt: skip
        if payload["last"]:
            self._reads.popleft()
        self._response(name, payload)

    def _response(self, name: str, payload: dict[str, int]) -> None:
        _check(payload["resp"] != _EXOKAY and payload["id"] == 0, name, f"response {payload}")
        self.counts.errors += payload["resp"] != 0


class ControlPort:
    """The checks of an AXI4-Lite port."""

    def __init__(self, dut: Any, prefix: str) -> None:
        self.prefix = prefix
        names = {"aw": ("addr",), "w": ("data", "strb"), "b": ("resp",), "ar": ("addr",), "r": ("data", "resp")}
        self.channels = {name: _Channel(dut, prefix, name, fields) for name, fields in names.items()}
        self._pending = dict.fromkeys(("aw", "w", "ar"), 0)

    @property
    def outstanding(self) -> int:
        """Transactions that have no response yet."""
        return max(self._pending["aw"], self._pending["w"]) + self._pending["ar"]

    def sample(self) -> None:
        """Look at a clock edge."""
        taken = {name: channel.sample() for name, channel in self.channels.items()}
        for response, requests in (("b", ("aw", "w")), ("r", ("ar",))):
            payload = taken[response]
            if payload is None:
                continue
            name = self.channels[response].name
            _check(all(self._pending[request] for request in requests), name, "a response without a request")
            _check(payload["resp"] != _EXOKAY, name, f"response {payload['resp']}")
            for request in requests:
                self._pending[request] -= 1
        for request in self._pending:
            self._pending[request] += taken[request] is not None


@dataclass
class Checker:
    """Watches ports from its start to the end of the test."""

    dut: Any
    ports: list[MemoryPort | ControlPort] = field(default_factory=list)

    async def run(self) -> None:
        """Look at every clock edge."""
        edge = RisingEdge(self.dut.clk)
        while True:
            await edge
            if self.dut.rst.value == 1:
                continue
            for port in self.ports:
                port.sample()

    @property
    def outstanding(self) -> int:
        """Transactions that have no response yet, at all ports."""
        return sum(port.outstanding for port in self.ports)

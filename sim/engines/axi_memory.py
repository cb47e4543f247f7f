"""A memory at an AXI4 manager port, cycle by cycle: what `axi_memory.h` is to compiled models."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from ctm.rtl.isa.limits import ADDRESS_SPACE
from ctm.sim.memory import Memory

_OKAY, _SLVERR = 0, 2
_BEAT_BITS = 8

Get = Callable[[str], int]
Set = Callable[[str, int], None]


@dataclass
class _Burst:
    address: int
    beats: int
    time: int = 0
    has_error: bool = False


class _Bandwidth:
    """What one direction may move: whole beats, at most so many bytes per cycle."""

    def __init__(self, beat_bytes: int, bytes_per_cycle: int) -> None:
        self._beat_bytes, self._rate, self._busy = beat_bytes, bytes_per_cycle, 0

    def is_free(self, now: int) -> bool:
        return now * self._rate >= self._busy

    def use(self, now: int) -> None:
        self._busy = max(self._busy, now * self._rate) + self._beat_bytes


class AxiMemory:
    """Responds in order: the first beat `latency` cycles after the address, or the last written beat, was taken.

    `get` and `set_` read and drive the port's signals by their names without prefix, as ``arvalid``.
    """

    def __init__(
        self, memory: Memory, get: Get, set_: Set, *, data_bits: int, latency: int, bytes_per_cycle: int
    ) -> None:
        self._memory, self._get, self._set = memory, get, set_
        self._beat_bytes, self._latency = data_bits // _BEAT_BITS, latency
        self._read_bus = _Bandwidth(self._beat_bytes, bytes_per_cycle)
        self._write_bus = _Bandwidth(self._beat_bytes, bytes_per_cycle)
        self._reads: deque[_Burst] = deque()
        self._writes: deque[_Burst] = deque()
        self._responses: deque[_Burst] = deque()

    def drive(self, now: int) -> None:
        """Set the inputs of a cycle."""
        self._set("arready", 1)
        self._set("awready", 1)
        self._set("wready", int(bool(self._writes) and self._write_bus.is_free(now)))
        offers = bool(self._reads) and self._reads[0].time <= now and self._read_bus.is_free(now)
        self._set("rvalid", int(offers))
        if offers:
            read = self._reads[0]
            is_error = self._memory.has_error(read.address, self._beat_bytes)
            beat = self._memory.bytes[read.address : read.address + self._beat_bytes].tobytes()
            self._set("rdata", 0 if is_error else int.from_bytes(beat, "little"))
            self._set("rresp", _SLVERR if is_error else _OKAY)
            self._set("rlast", int(read.beats == 1))
        responds = bool(self._responses) and self._responses[0].time <= now
        self._set("bvalid", int(responds))
        if responds:
            self._set("bresp", _SLVERR if self._responses[0].has_error else _OKAY)

    def take(self, now: int) -> None:
        """Take what was handed over in a cycle, before its clock edge."""
        if self._goes("r"):
            self._read_bus.use(now)
            read = self._reads[0]
            read.address = (read.address + self._beat_bytes) % ADDRESS_SPACE
            read.beats -= 1
            if not read.beats:
                self._reads.popleft()
        if self._goes("b"):
            self._responses.popleft()
        if self._goes("w"):
            self._take_write(now)
        if self._goes("ar"):
            self._reads.append(self._burst("ar", now + self._latency))
        if self._goes("aw"):
            self._writes.append(self._burst("aw", 0))

    def _goes(self, channel: str) -> bool:
        return bool(self._get(f"{channel}valid") and self._get(f"{channel}ready"))

    def _burst(self, channel: str, time: int) -> _Burst:
        address = self._get(f"{channel}addr") & -self._beat_bytes
        return _Burst(address, self._get(f"{channel}len") + 1, time)

    def _take_write(self, now: int) -> None:
        self._write_bus.use(now)
        burst, strobe = self._writes[0], self._get("wstrb")
        if self._memory.has_error(burst.address, self._beat_bytes):
            burst.has_error |= strobe != 0
        else:
            data = self._get("wdata").to_bytes(self._beat_bytes, "little")
            for index, byte in enumerate(data):
                if strobe >> index & 1:
                    self._memory.bytes[burst.address + index] = byte
        burst.address = (burst.address + self._beat_bytes) % ADDRESS_SPACE
        burst.beats -= 1
        if not burst.beats:
            self._writes.popleft()
            burst.time = now + self._latency
            self._responses.append(burst)

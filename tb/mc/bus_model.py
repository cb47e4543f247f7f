"""Memory at the channels of an AXI4 manager, which also checks the manager's rules."""

from typing import Any

import numpy as np
from amaranth import Value

from ctm.rtl.mc.bus.axi import Response
from ctm.tb.lib.streams import End, Sink, Source

LINE_BYTES = 64
_PAGE = 4096


class BusModel(End):
    """Serves bursts in order, a beat in each cycle unless it stalls; use it as an end of `cycle`.

    `channels` has some of the streams `ar`, `r`, `aw`, `w` and `b`. Lines in `error_lines` get error responses.
    Sinks check that a payload is held until it is taken.
    """

    def __init__(self, channels: Any, generator: np.random.Generator, stall: float, *, data_bits: int) -> None:
        self._beat_bytes = data_bits // 8
        self.lines: dict[int, bytes] = {}
        self.error_lines: set[int] = set()
        self.reads: list[tuple[int, int]] = []
        """Address and beats of every burst that was read."""
        self.writes: list[tuple[int, int]] = []
        self._ends: dict[str, Source | Sink] = {}
        for name, end in {"ar": Sink, "r": Source, "aw": Sink, "w": Sink, "b": Source}.items():
            if hasattr(channels, name):
                self._ends[name] = end(getattr(channels, name), generator, stall)
        self._burst: tuple[int, int] | None = None
        self._has_error = False

    def line(self, number: int) -> bytes:
        """What memory holds."""
        return self.lines.get(number, np.random.default_rng(number).bytes(LINE_BYTES))

    @property
    def is_drained(self) -> bool:
        """Every burst has its response."""
        waiting = [name for name, end in self._ends.items() if isinstance(end, Source) and end.waiting]
        return not waiting and self._burst is None and not any(self._received(name) for name in ("aw", "w"))

    def drive(self, context: Any) -> None:
        """Set the channels for this cycle."""
        for end in self._ends.values():
            end.drive(context)

    def finish(self, context: Any) -> None:
        """Take what was handed over in this cycle."""
        for end in self._ends.values():
            end.finish(context)
        for payload in self._taken("ar"):
            self._read(*self._checked(payload))
        while self._received("w") and (self._burst or self._received("aw")):
            if self._burst is None:
                self._burst = self._checked(self._received("aw").pop(0))
                self.writes.append(self._burst)
            self._write(self._received("w").pop(0))

    def _received(self, name: str) -> list[int]:
        end = self._ends.get(name)
        return end.received if isinstance(end, Sink) else []

    def _taken(self, name: str) -> list[int]:
        payloads = self._received(name)
        taken, payloads[:] = payloads[:], []
        return taken

    def _checked(self, payload: int) -> tuple[int, int]:
        """Address and beats of a burst that follows the rules."""
        address, beats = payload & 0xFFFF_FFFF, (payload >> 32) + 1
        assert address % self._beat_bytes == 0, "a burst begins at a beat"
        end = address + beats * self._beat_bytes - 1
        assert address // _PAGE == end // _PAGE, "no burst crosses 4 KiB"
        assert address // LINE_BYTES == end // LINE_BYTES, "a burst is in one line"
        return address, beats

    def _read(self, address: int, beats: int) -> None:
        self.reads.append((address, beats))
        bits = 8 * self._beat_bytes
        number, offset = divmod(address, LINE_BYTES)
        response = Response.SLVERR.value if number in self.error_lines else Response.OKAY.value
        for beat in range(beats):
            begin = offset + beat * self._beat_bytes
            word = int.from_bytes(self.line(number)[begin : begin + self._beat_bytes], "little")
            source = self._ends["r"]
            assert isinstance(source, Source)
            source.waiting.append(word | response << bits | (beat == beats - 1) << bits + 2)

    def _write(self, payload: int) -> None:
        assert self._burst is not None
        (address, beats), size = self._burst, self._beat_bytes
        bits, strobe, last = payload & (1 << 8 * size) - 1, payload >> 8 * size & (1 << size) - 1, payload >> 9 * size
        assert last == (beats == 1), "the last beat and no other says so"
        number, offset = divmod(address, LINE_BYTES)
        self._has_error |= number in self.error_lines
        if number not in self.error_lines:
            line = bytearray(self.line(number))
            for byte, value in enumerate(bits.to_bytes(size, "little")):
                if strobe >> byte & 1:
                    line[offset + byte] = value
            self.lines[number] = bytes(line)
        self._burst = (address + size, beats - 1)
        if beats == 1:
            source = self._ends["b"]
            assert isinstance(source, Source)
            source.waiting.append(Response.SLVERR.value if self._has_error else Response.OKAY.value)
            self._burst, self._has_error = None, False


def is_offered(context: Any, port: Any) -> bool:
    """Whether a stream is valid now."""
    return bool(context.get(Value.cast(port.valid)))

"""Bridge, from pin to pin: every request, and what becomes of damaged ones."""

import struct
from typing import Any

import numpy as np
import pytest

from ctm.rtl.board.bridge import Bridge, BridgeConfig
from ctm.rtl.isa.link import LARGEST, Request, Verdict
from ctm.sim.engines.axi_memory import AxiMemory
from ctm.sim.memory import Memory
from ctm.tb.board.wire import Line, contents, request
from ctm.tb.lib.streams import simulate

PERIOD = 4
MEMORY_BYTES = 1 << 16
FINGERPRINT = 0x0123_7E7D_89AB_CDEF
CONFIG = BridgeConfig(
    frequency=PERIOD * 1_000_000, baud=1_000_000, memory_bytes=MEMORY_BYTES, data_bits=64, fingerprint=FINGERPRINT
)
_LATELY = 20
DONE, BUS_ERROR, MALFORMED = Verdict.DONE.value, Verdict.BUS_ERROR.value, Verdict.MALFORMED.value


class Bench:
    """A bridge with a memory, registers that are numbers in a list, and a host's line."""

    def __init__(self, context: Any, bridge: Any) -> None:
        self.context, self.bridge = context, bridge
        self.line = Line(bridge.receive, bridge.transmit, PERIOD)
        self.memory = Memory()
        self.memory.respond_with_errors(MEMORY_BYTES, 1 << 32)
        self.registers = [0x1000 + index for index in range(1024)]
        self.writes: list[tuple[int, int]] = []
        self.now = 0
        self._axi = AxiMemory(self.memory, self._get, self._set, data_bits=64, latency=5, bytes_per_cycle=8)
        self._read: int | None = None
        self._address: int | None = None
        self._data: int | None = None
        self._responds = False
        self._busy = 0
        self._signals: dict[str, Any] = {}

    def _signal(self, name: str) -> Any:
        if name not in self._signals:
            self._signals[name] = self._find(name)
        return self._signals[name]

    def _find(self, name: str) -> Any:
        channel = next(channel for channel in ("ar", "aw", "r", "w", "b") if name.startswith(channel))
        port, field = getattr(self.bridge.bus, channel), name.removeprefix(channel)
        if field in ("valid", "ready"):
            return getattr(port, field)
        names = {"addr": "address", "len": "length", "data": "bits", "resp": "response", "strb": "strobe"}
        return port.payload[names.get(field, field)]

    def _get(self, name: str) -> int:
        value = self.context.get(self._signal(name))
        return int(getattr(value, "value", value))

    def _set(self, name: str, value: int) -> None:
        self.context.set(self._signal(name), value)

    async def clock(self) -> None:
        """One cycle."""
        self.line.clock(self.context)
        if self._is_busy():
            self._axi.drive(self.now)
            self._axi.take(self.now)
            self._control()
        self.now += 1
        await self.context.tick()

    def _is_busy(self) -> bool:
        """Whether a unit after the bridge is busy, or was recently: reading each port in each cycle is slow."""
        control, bus = self.bridge.control, self.bridge.bus
        ports = (control.ar, control.aw, control.r, control.b, bus.ar, bus.w, bus.r, bus.b)
        self._busy = _LATELY if any(self.context.get(port.valid) for port in ports) else max(self._busy - 1, 0)
        return bool(self._busy)

    def _control(self) -> None:
        """Registers that respond a cycle later."""
        get, set_, control = self.context.get, self.context.set, self.bridge.control
        for channel in (control.ar, control.aw, control.w):
            set_(channel.ready, 1)
        set_(control.r.valid, self._read is not None)
        set_(control.r.payload.bits, self.registers[(self._read or 0) // 4])
        set_(control.b.valid, self._responds)
        if self._read is not None and get(control.r.ready):
            self._read = None
        if get(control.ar.valid):
            self._read = get(control.ar.payload)
        if self._responds and get(control.b.ready):
            self._responds = False
        if get(control.aw.valid):
            self._address = get(control.aw.payload)
        if get(control.w.valid):
            self._data = get(control.w.payload.bits)
        if self._address is not None and self._data is not None:
            self.writes.append((self._address, self._data))
            self.registers[self._address // 4] = self._data
            self._address = self._data = None
            self._responds = True

    async def exchange(self, data: bytes, idle: int = 30) -> list[bytes]:
        """What comes back of these bytes until nothing has been going on for some bits' time."""
        self.line.received.clear()
        self.line.send(data)
        remaining = idle * PERIOD
        while remaining:
            await self.clock()
            remaining = remaining - 1 if self.line.is_idle else idle * PERIOD
        return contents(bytes(self.line.received))


@pytest.fixture(scope="module")
def bridge() -> Bridge:
    return Bridge(CONFIG)


def bench_test(bridge: Bridge, body: Any) -> None:
    async def testbench(context: Any) -> None:
        await body(Bench(context, bridge))

    simulate(bridge, testbench)


def response(code: Request, sequence: int, data: bytes = b"", verdict: int = DONE) -> bytes:
    return bytes([code.value | 0x80, sequence]) + data + bytes([verdict])


def test_it_says_what_it_is(bridge: Bridge) -> None:
    async def body(bench: Bench) -> None:
        greeting = struct.pack("<4sIQII", b"BCTM", 1, FINGERPRINT, MEMORY_BYTES, PERIOD * 1_000_000)
        assert await bench.exchange(request(Request.HELLO, 9, length=24)) == [response(Request.HELLO, 9, greeting)]

    bench_test(bridge, body)


def test_registers_are_read_and_written(bridge: Bridge) -> None:
    async def body(bench: Bench) -> None:
        words = struct.pack("<5I", *bench.registers[3:8])
        read = await bench.exchange(request(Request.READ_REGISTERS, 1, address=12, length=20))
        assert read == [response(Request.READ_REGISTERS, 1, words)]
        written = await bench.exchange(request(Request.WRITE_REGISTER, 2, address=16, data=b"\x7e\x7d\x5e\x20"))
        assert written == [response(Request.WRITE_REGISTER, 2)]
        assert bench.writes == [(16, 0x205E_7D7E)]

    bench_test(bridge, body)


def test_a_write_that_is_repeated_is_made_once(bridge: Bridge) -> None:
    async def body(bench: Bench) -> None:
        await bench.exchange(request(Request.HELLO, 4, length=24))
        write = request(Request.WRITE_REGISTER, 5, address=40, data=bytes(4))
        for _ in range(3):
            assert await bench.exchange(write) == [response(Request.WRITE_REGISTER, 5)]
        assert bench.writes == [(40, 0)]
        # The same number after another request is another write.
        await bench.exchange(request(Request.READ_REGISTERS, 6, length=4))
        assert await bench.exchange(write) == [response(Request.WRITE_REGISTER, 5)]
        assert bench.writes == [(40, 0)] * 2

    bench_test(bridge, body)


@pytest.mark.parametrize("size", [64, pytest.param(LARGEST, marks=pytest.mark.long)])
def test_memory_is_written_and_read(bridge: Bridge, size: int) -> None:
    data = np.random.default_rng(size).integers(0, 256, size, np.uint8).tobytes()

    async def body(bench: Bench) -> None:
        assert await bench.exchange(request(Request.WRITE_MEMORY, 1, address=0x1240, data=data), idle=LARGEST) == [
            response(Request.WRITE_MEMORY, 1)
        ]
        assert bench.memory.read(0x1240 - 64, size + 128) == bytes(64) + data + bytes(64)
        bench.memory.write(0x2000, data[::-1])
        read = await bench.exchange(request(Request.READ_MEMORY, 2, address=0x2000, length=size))
        assert read == [response(Request.READ_MEMORY, 2, data[::-1])]

    bench_test(bridge, body)


@pytest.mark.slow
def test_memory_is_cleared(bridge: Bridge) -> None:
    async def body(bench: Bench) -> None:
        # What was written last is not what is cleared with.
        await bench.exchange(request(Request.WRITE_MEMORY, 2, address=0x1000, data=b"\xee" * 64), idle=150)
        bench.memory.write(0, b"\xff" * 0x400)
        for size, index in ((0x80, 0x100), (0, 0x300)):
            cleared = await bench.exchange(
                request(Request.CLEAR_MEMORY, 3, address=index, data=struct.pack("<I", size))
            )
            assert cleared == [response(Request.CLEAR_MEMORY, 3)]
        assert bench.memory.read(0, 0x400) == b"\xff" * 0x100 + bytes(0x80) + b"\xff" * 0x280

    bench_test(bridge, body)


@pytest.mark.slow
def test_an_address_beyond_memory_is_an_error(bridge: Bridge) -> None:
    async def body(bench: Bench) -> None:
        [read] = await bench.exchange(request(Request.READ_MEMORY, 1, address=MEMORY_BYTES, length=64))
        assert (len(read), read[-1]) == (2 + 64 + 1, BUS_ERROR)
        for code, data in ((Request.WRITE_MEMORY, bytes(64)), (Request.CLEAR_MEMORY, struct.pack("<I", 64))):
            failed = await bench.exchange(request(code, 2, address=MEMORY_BYTES, data=data))
            assert failed == [response(code, 2, verdict=BUS_ERROR)]
        assert await bench.exchange(request(Request.WRITE_MEMORY, 3, address=0, data=bytes(64))) == [
            response(Request.WRITE_MEMORY, 3)
        ]

    bench_test(bridge, body)


def test_the_map_has_what_the_machine_wrote(bridge: Bridge) -> None:
    async def body(bench: Bench) -> None:
        assert await bench.exchange(request(Request.CLEAR_WRITTEN, 1)) == [response(Request.CLEAR_WRITTEN, 1)]
        for address in (0x0, 0x4FFF, 0x5000, 0xFFC0):
            bench.context.set(bench.bridge.write, {"valid": 1, "address": address})
            await bench.clock()
        bench.context.set(bench.bridge.write, {"valid": 0, "address": 0x2000})
        seen = await bench.exchange(request(Request.READ_WRITTEN, 2, length=4))
        blocks = 1 << 0 | 1 << 9 | 1 << 10 | 1 << 31
        assert seen == [response(Request.READ_WRITTEN, 2, struct.pack("<I", blocks))]
        seen = await bench.exchange(request(Request.READ_WRITTEN, 3, address=0x4000, length=1))
        assert seen == [response(Request.READ_WRITTEN, 3, bytes([blocks >> 8 & 0xFF]))]
        await bench.exchange(request(Request.CLEAR_WRITTEN, 4), idle=50)
        seen = await bench.exchange(request(Request.READ_WRITTEN, 5, length=4))
        assert seen == [response(Request.READ_WRITTEN, 5, bytes(4))]

    bench_test(bridge, body)


MALFORMED_REQUESTS: list[tuple[Request | int, dict[str, Any]]] = [
    (9, {}),
    (Request.HELLO, {"length": 20}),
    (Request.READ_REGISTERS, {"address": 4092, "length": 8}),
    (Request.WRITE_REGISTER, {"length": 4}),
    (Request.READ_MEMORY, {"address": 32, "length": 64}),
    (Request.READ_WRITTEN, {"length": 5}),
]
MORE: list[tuple[Request | int, dict[str, Any]]] = [
    (0, {}),
    (255, {"length": 4}),
    (Request.HELLO, {"length": 24, "data": bytes(24)}),
    (Request.READ_REGISTERS, {"length": 6}),
    (Request.READ_REGISTERS, {"address": 2, "length": 4}),
    (Request.READ_REGISTERS, {"length": LARGEST + 4}),
    (Request.WRITE_REGISTER, {"data": bytes(8)}),
    (Request.READ_MEMORY, {"length": 32}),
    (Request.READ_MEMORY, {"length": 0}),
    (Request.WRITE_MEMORY, {"data": bytes(64), "length": 128}),
    (Request.CLEAR_MEMORY, {"data": bytes(3)}),
    (Request.READ_WRITTEN, {"address": 0x800, "length": 1}),
    (Request.CLEAR_WRITTEN, {"length": 4}),
]


@pytest.mark.parametrize(
    ("code", "fields"), [*MALFORMED_REQUESTS, *(pytest.param(*each, marks=pytest.mark.long) for each in MORE)]
)
def test_what_cannot_be_is_told_and_nothing_done(bridge: Bridge, code: Request | int, fields: dict[str, Any]) -> None:
    async def body(bench: Bench) -> None:
        number = code.value if isinstance(code, Request) else code
        assert await bench.exchange(request(code, 7, **fields)) == [bytes([number | 0x80, 7, MALFORMED])]
        assert not bench.writes
        # It goes on.
        read = await bench.exchange(request(Request.READ_REGISTERS, 8, length=4))
        assert read == [response(Request.READ_REGISTERS, 8, struct.pack("<I", bench.registers[0]))]

    bench_test(bridge, body)


@pytest.mark.slow
def test_a_damaged_frame_is_no_request_and_the_next_one_is(bridge: Bridge) -> None:
    good = request(Request.WRITE_REGISTER, 3, address=16, data=b"abcd")
    read = request(Request.READ_REGISTERS, 4, length=4)
    generator = np.random.default_rng(7)
    damaged = [good[: len(good) // 2], good[5:], good[:-1] + b"\x7d", b"\x00\xff noise", b"\x7e" * 3]
    for _ in range(3):
        index = int(generator.integers(1, len(good) - 1))
        damaged.append(good[:index] + bytes([good[index] ^ 1 << int(generator.integers(8))]) + good[index + 1 :])

    async def body(bench: Bench) -> None:
        expected = [response(Request.READ_REGISTERS, 4, struct.pack("<I", bench.registers[0]))]
        for data in damaged:
            assert await bench.exchange(data + read) == expected, data.hex()
        assert not bench.writes

    bench_test(bridge, body)


def test_noise_shorter_than_half_a_bit_and_bytes_without_stop_bit_are_nothing(bridge: Bridge) -> None:
    read = request(Request.READ_REGISTERS, 4, length=4)

    async def body(bench: Bench) -> None:
        bench.line.send_levels([1] * 20 + [0] + [1] * 50)
        # As long as a byte and longer: a cable that is pulled out.
        bench.line.send_levels([0] * (13 * PERIOD) + [1] * (2 * PERIOD))
        expected = [response(Request.READ_REGISTERS, 4, struct.pack("<I", bench.registers[0]))]
        assert await bench.exchange(read) == expected
        # Within a frame a byte too many would be one.
        bench.line.send(read[:5])
        bench.line.send_levels([1] * 20 + [0] + [1] * 50)
        assert await bench.exchange(read[5:]) == expected

    bench_test(bridge, body)

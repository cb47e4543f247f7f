"""The tests of bridge and bounds are worth something: they find planted mistakes."""

from collections.abc import Callable
from typing import Any

import pytest

from ctm.tb.lib.planting import Fault, FaultyLoader, checks, planted_in_all

PACKAGES = (
    "ctm.rtl.board",
    "ctm.sim.engines.serial",
    "ctm.sim.engines.choice",
    "ctm.sim.runtime.device",
    "ctm.tb.board",
)
Check = Callable[[], None]


def bridge(name: str, *arguments: Any) -> Check:
    """A test of a bridge of its own."""

    def check() -> None:
        tests = checks("board.test_bridge")
        getattr(tests, name)(tests.Bridge(tests.CONFIG), *arguments)

    return check


def bounds() -> None:
    """Bounds under stalls."""
    checks("board.test_bounds").test_an_address_beyond_gets_its_error_in_order(0.3)


DAMAGED = bridge("test_a_damaged_frame_is_no_request_and_the_next_one_is")
NOISE = bridge("test_noise_shorter_than_half_a_bit_and_bytes_without_stop_bit_are_nothing")
REPEATED = bridge("test_a_write_that_is_repeated_is_made_once")
REGISTERS = bridge("test_registers_are_read_and_written")
MAP = bridge("test_the_map_has_what_the_machine_wrote")
MEMORY = bridge("test_memory_is_written_and_read", 64)
CLEARED = bridge("test_memory_is_cleared")
BUS_ERROR = bridge("test_an_address_beyond_memory_is_an_error")

FAULTS: dict[str, tuple[Fault, Check]] = {
    "the CRC is not looked at": (Fault("rtl.board.frames", "& some & crc.match_detected", "& some"), DAMAGED),
    "an escape changes nothing": (
        Fault("rtl.board.frames", "self.byte.bits.eq(line.payload ^ Mux(escaped, FLIPPED, 0))",
              "self.byte.bits.eq(line.payload)"),
        REGISTERS,
    ),
    "escapes are not sent": (
        Fault("rtl.board.frames", "needs = (byte == FLAG) | (byte == ESCAPE)", "needs = (byte == FLAG) & 0"),
        bridge("test_it_says_what_it_is"),
    ),
    "any low level is a start bit": (Fault("rtl.board.serial_line", "(count == 0) & line", "(count == 0) & 0"), NOISE),
    "a byte needs no stop bit before the next": (
        Fault("rtl.board.serial_line", "busy.eq(was_high & ~line)", "busy.eq(~line)"), NOISE,
    ),
    "a repeated request is written again": (
        Fault("rtl.board.bridge", "(header.code == Request.WRITE_REGISTER) & repeated", "Const(0)"), REPEATED,
    ),
    "a sequence number counts for ever": (
        Fault(
            "rtl.board.bridge", "last_sequence.eq(header.sequence)",
            "last_sequence.eq(Mux(header.code == Request.WRITE_REGISTER, header.sequence, last_sequence))",
        ),
        REPEATED,
    ),
    "the map loses a burst": (
        Fault("rtl.board.written", "writer.data.eq(self.write.valid)", "writer.data.eq(0)"), MAP,
    ),
    "nothing is cleared": (Fault("rtl.board.written", "self.write.valid | clears", "self.write.valid"), MAP),
    "a burst's beats have all the first one's number": (
        Fault("rtl.board.memory", "m.d.sync += self._number.eq(self._number + 1)\n            m.next",
              "m.d.sync += self._number.eq(self._number)\n            m.next"),
        MEMORY,
    ),
    "what is cleared is the last beat": (
        Fault("rtl.board.memory", "Mux(self._clears, 0, self._beat.bits)", "self._beat.bits"), CLEARED,
    ),
    "errors of memory are not told": (
        Fault("rtl.board.memory", "self.action.error | error", "self.action.error"), BUS_ERROR,
    ),
    "an error is kept": (
        Fault("rtl.board.memory", "action.error.eq(0),", ""),
        BUS_ERROR,
    ),
    "a read with an error overtakes": (
        Fault("rtl.board.bounds", "inner.ar.valid & ~is_inside & (count == 0)", "inner.ar.valid & ~is_inside"), bounds,
    ),
    "a write with an error overtakes": (
        Fault("rtl.board.bounds", "~is_inside & (count == 0) & (addressed == 0)", "~is_inside & (addressed == 0)"),
        bounds,
    ),
    "beats go on before their address": (Fault("rtl.board.bounds", "~fails & (addressed != 0)", "~fails"), bounds),
    "a burst that begins at the end is let through": (
        Fault("rtl.board.bounds", "is_inside = inner.ar.payload.address < self._memory_bytes",
              "is_inside = inner.ar.payload.address <= self._memory_bytes"),
        bounds,
    ),
}  # fmt: skip
QUICK = ("a read with an error overtakes", "beats go on before their address", "nothing is cleared")


def find(name: str) -> None:
    """The check that is to find a mistake does."""
    fault, check = FAULTS[name]
    with planted_in_all(fault, PACKAGES), pytest.raises(AssertionError):
        check()


@pytest.mark.long
def test_the_checks_pass_without_a_fault() -> None:
    neutral = Fault("rtl.board.bounds", "_MOST = 1 << 8", "_MOST = 256")
    for check in {check for _, check in FAULTS.values()}:
        with planted_in_all(neutral, PACKAGES):
            check()


def test_each_fault_can_be_planted() -> None:
    for fault, _ in FAULTS.values():
        FaultyLoader(fault)


@pytest.mark.parametrize("name", QUICK)
def test_some_faults_are_found(name: str) -> None:
    find(name)


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in FAULTS if name not in QUICK])
def test_faults_are_found(name: str) -> None:
    find(name)

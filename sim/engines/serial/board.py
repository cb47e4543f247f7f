"""A board at the other end of a link, as the hardware that an engine runs."""

import struct
import time
from collections.abc import Sequence

from ctm.rtl.board.identity import fingerprint
from ctm.rtl.config import MachineConfig
from ctm.rtl.isa.host import COUNTERS, COUNTERS_OFFSET, IDENTITY, REGISTERS
from ctm.rtl.isa.limits import WORD_BYTES
from ctm.rtl.isa.link import GREETING, MAGIC, PROTOCOL, Request
from ctm.rtl.isa.word import unpack
from ctm.sim.engines.serial.error import BoardError
from ctm.sim.engines.serial.link import Link

_REGISTERS = {register.name: register for register in REGISTERS}
_BUSY = COUNTERS_OFFSET + WORD_BYTES * list(COUNTERS).index("BUSY")
_LONGEST_SLEEP = 0.02
"""Seconds between two looks at the interrupt."""


class BoardMachine:
    """The machine on a board; its clock is its counter BUSY, so its cycles are those in which it executes buffers.

    Raises
    ------
    BoardError
        What responds is no board with a machine of this configuration.
    """

    def __init__(self, link: Link, config: MachineConfig) -> None:
        self._link = link
        greeting = unpack(GREETING, int.from_bytes(link.ask(Request.HELLO, length=GREETING.size // 8), "little"))
        if greeting["magic"] != MAGIC:
            raise BoardError(f"{link.name}: what responds is no board of this machine; is its bitstream loaded?")
        if greeting["protocol"] != PROTOCOL:
            theirs = greeting["protocol"]
            raise BoardError(f"{link.name}: the bitstream speaks protocol {theirs}, not {PROTOCOL}; build it again")
        if self.read(_REGISTERS["ID"].offset) != IDENTITY:
            raise BoardError(f"{link.name}: there is no machine at the board's bridge; build its bitstream again")
        self._check(greeting["fingerprint"], config)
        self.memory_bytes, self._frequency = greeting["memory_bytes"], greeting["frequency"]
        self._before = self._last = 0

    def _check(self, theirs: int, config: MachineConfig) -> None:
        ours, array = fingerprint(config), config.array
        if theirs == ours:
            return
        built = unpack(_REGISTERS["CONFIG"].layout, self.read(_REGISTERS["CONFIG"].offset))
        raise BoardError(
            f"{self._link.name}: the FPGA has another configuration: {built['cores']} cores, {built['lanes']} lanes, "
            f"{built['threads']} slots, fingerprint {theirs:016x}; wanted: {array.cores}, {array.lanes}, "
            f"{array.threads}, {ours:016x}; give --preset and --set as the bitstream was built"
        )

    @property
    def cycles(self) -> int:
        """Clock cycles in which a buffer was executed."""
        busy = self.read(_BUSY)
        # The counter has 32 bits.
        self._before += (busy < self._last) << 32
        self._last = busy
        return self._before + busy

    @property
    def raised(self) -> int:
        """The same: BUSY stands still since the interrupt."""
        return self.cycles

    def write(self, offset: int, value: int) -> None:
        """Write a register."""
        if offset == _REGISTERS["CONTROL"].offset and value & 1:
            # A reset makes the counter 0.
            self._before, self._last = self.cycles, 0
        self._link.ask(Request.WRITE_REGISTER, address=offset, data=struct.pack("<I", value))

    def read(self, offset: int) -> int:
        """Read a register."""
        return self.read_words(offset, 1)[0]

    def read_words(self, offset: int, count: int) -> Sequence[int]:
        """Read registers that follow each other."""
        data = self._link.ask(Request.READ_REGISTERS, address=offset, length=WORD_BYTES * count)
        return struct.unpack(f"<{count}I", data)

    def run(self, cycles: int) -> bool:
        """Wait for the interrupt, about as long as so many cycles take; whether it has come."""
        end, sleep = time.monotonic() + cycles / self._frequency, 0.0
        while not self.read(_REGISTERS["INTERRUPT"].offset):
            if time.monotonic() >= end:
                return False
            time.sleep(sleep)
            sleep = min(2 * sleep + 0.001, _LONGEST_SLEEP)
        return True

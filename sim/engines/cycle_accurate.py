"""Engines that run the hardware: they speak with its host interface as a driver would."""

from collections.abc import Sequence
from typing import Protocol, TextIO

from ctm.rtl.config import MachineConfig
from ctm.rtl.isa.host import COUNTERS, COUNTERS_OFFSET, DRAW_COUNTERS, DRAW_COUNTERS_OFFSET, REGISTERS
from ctm.rtl.isa.limits import WORD_BYTES
from ctm.rtl.isa.status import BusClient, Status
from ctm.rtl.isa.word import pack, unpack
from ctm.sim.engines.engine import Notice, Progress, Report
from ctm.sim.engines.seen import NOT_WATCHED, Seen
from ctm.sim.fault import CycleLimitError, MachineError
from ctm.sim.memory import Memory

_REGISTERS = {register.name: register for register in REGISTERS}
_PROCESSORS = "PROCESSORS"
_ISSUED = ("ISSUED_ALU", "ISSUED_TEX", "ISSUED_FC")
_LANES = ("LANES_ALU", "LANES_TEX", "LANES_FC")
_PROGRAM_FAULTS = (Status.ILLEGAL_INSTRUCTION, Status.STACK, Status.PC_RANGE, Status.WATCHDOG)
_PROGRAM_CLIENTS = (BusClient.FLOAT_CONSTANT, BusClient.INT_CONSTANT, BusClient.BOOL_CONSTANT, BusClient.INPUT)
"""Whose accesses only an instruction makes."""


class SimulatedMachine(Protocol):
    """The hardware after a reset, with memory at its ports."""

    @property
    def cycles(self) -> int:
        """Clock cycles so far."""

    @property
    def raised(self) -> int:
        """The cycle in which the interrupt was raised last."""

    def write(self, offset: int, value: int) -> None:
        """Write a register."""

    def read(self, offset: int) -> int:
        """Read a register."""

    def run(self, cycles: int) -> bool:
        """Clock until the interrupt is raised, at most `cycles` cycles; whether it is."""


def counters_of(config: MachineConfig) -> dict[str, int]:
    """The counters of a machine, and where each is read: those of draws, too, where it draws."""
    tables = [(COUNTERS, COUNTERS_OFFSET), *[(DRAW_COUNTERS, DRAW_COUNTERS_OFFSET)] * config.pipeline.draws]
    return {name: first + WORD_BYTES * index for names, first in tables for index, name in enumerate(names)}


class CycleAccurateEngine:
    """Runs command buffers on simulated hardware.

    After `max_cycles` clock cycles, if that is given, the machine is reset and `CycleLimitError` raised.
    """

    name = ""
    counts_cycles = True
    remarks: Sequence[str] = ()
    slice_cycles = 1 << 14
    """Cycles between two looks at the keyboard and at progress."""
    reset_looks = 1_000_000
    """Looks at a machine in its reset until it counts as lost."""

    def __init__(
        self,
        config: MachineConfig,
        *,
        watchdog: int = 0,
        progress: Progress | None = None,
        hazards: bool = False,
        max_cycles: int | None = None,
        trace: TextIO | None = None,
    ) -> None:
        if hazards:
            raise ValueError(f"engine '{self.name}' does not report hazards; engine 'golden' does")
        if trace is not None:
            raise ValueError(f"engine '{self.name}' writes no trace; engine 'golden' does")
        config.check_hardware()
        self.memory = Memory()
        self._watchdog, self._progress, self._max_cycles = watchdog, progress, max_cycles
        self._counters = counters_of(config)
        self._machine = self.make_machine(config)
        self._counted = dict.fromkeys(self._counters, 0)
        self._seen = dict.fromkeys(self._counters, 0)
        self._walked = 0
        self._cycles = 0
        self._begun: int | None = None
        """The machine's clock when the buffer that is executed was pushed."""
        self._prepare()

    @property
    def ran(self) -> str:
        """Its own name; see `Engine.ran`."""
        return self.name

    @staticmethod
    def prepare(config: MachineConfig, tell: Notice) -> None:
        """See `Engine.prepare`; ValueError: there is no such hardware."""
        config.check_hardware()

    def make_machine(self, config: MachineConfig) -> SimulatedMachine:
        """The hardware of a configuration, with `self.memory`."""
        raise NotImplementedError

    def expect(self, starts: int) -> None:
        """Nothing; see `Engine.expect`."""

    def execute(self, address: int, dwords: int) -> None:
        """Execute one command buffer; see `Engine.execute`.

        Raises
        ------
        CycleLimitError
            It took more cycles than remain of `max_cycles`; it was dropped.
        """
        self._write("QUEUE_ADDRESS", address)
        self._write("QUEUE_DWORDS", dwords)
        self._begun = start = self._machine.cycles
        self._write("QUEUE_PUSH", 0)
        try:
            while not self._machine.run(self._slice()):
                self._count()
                self._check_limit()
            # After an error the machine has to wait for its prefetches.
            while self._read("LAST_CONSUMED") != self._read("LAST_SUBMITTED"):
                self._check_limit()
        except BaseException:
            # However the buffer ended, the machine must not run when the caller continues.
            self._cycles, self._begun = self._taken(), None
            self.reset()
            raise
        # Looking at counters takes cycles too, but not of the buffer's.
        self._cycles, self._begun = self._cycles + self._machine.raised - start, None
        self._count()
        self._write("INTERRUPT", 0xFFFF_FFFF)
        self._raise_error()

    def reset(self) -> None:
        """Return to the reset state by a soft reset."""
        self._count()
        self.reset_machine(self._machine)
        self._seen = dict.fromkeys(self._counters, 0)
        self._prepare()

    def reset_machine(self, machine: SimulatedMachine) -> None:
        """Make a soft reset and wait for its end."""
        control, status = _REGISTERS["CONTROL"], _REGISTERS["STATUS"]
        machine.write(control.offset, pack(control.layout, reset=1, interrupt_enable=0))
        for _ in range(self.reset_looks):
            if unpack(status.layout, machine.read(status.offset))["idle"]:
                return
        raise TimeoutError("the machine does not come out of its reset")

    def counters(self) -> Sequence[int]:
        """What the machine's counters show, in the order of `counters_of`."""
        return [self._machine.read(offset) for offset in self._counters.values()]

    def report(self) -> Report:
        """Counts since the engine was made."""
        self._count()
        return self.standing()

    def seen(self) -> Seen:
        """Nothing; see `Engine.seen`."""
        raise ValueError(NOT_WATCHED)

    def standing(self) -> Report:
        """What had been counted when progress was told last."""
        return Report(
            cycles=self._taken(),
            instructions=sum(self._counted[name] for name in _ISSUED),
            lane_instructions=sum(self._counted[name] for name in _LANES),
            counters={name.lower(): value for name, value in self._counted.items()},
        )

    def _prepare(self) -> None:
        """What a driver does after a reset."""
        self._write("WATCHDOG", self._watchdog)
        self._write("INTERRUPT", 0xFFFF_FFFF)
        self._write_fields("CONTROL", clear_error=1, interrupt_enable=1)

    def _taken(self) -> int:
        """Cycles of all buffers so far."""
        return self._cycles + (0 if self._begun is None else self._machine.cycles - self._begun)

    def _check_limit(self) -> None:
        if self._max_cycles is not None and self._taken() >= self._max_cycles:
            raise CycleLimitError(self._max_cycles)

    def _slice(self) -> int:
        if self._max_cycles is None:
            return self.slice_cycles
        return max(1, min(self.slice_cycles, self._max_cycles - self._taken()))

    def _count(self) -> None:
        """Add what the counters, which wrap, have counted."""
        for name, value in zip(self._counters, self.counters(), strict=True):
            self._counted[name] += (value - self._seen[name]) & 0xFFFF_FFFF
            self._seen[name] = value
        if self._progress is not None:
            self._progress(self._counted[_PROCESSORS] - self._walked)
        self._walked = self._counted[_PROCESSORS]

    def _raise_error(self) -> None:
        status = self._read_fields("STATUS")
        if not status["error"]:
            return
        code = Status(status["code"])
        client = BusClient(self._read_fields("ERROR_CLIENT")["client"]) if code is Status.BUS_ERROR else None
        coordinates = self._read_fields("FAULT_IJ")
        is_fault = code in _PROGRAM_FAULTS or client in _PROGRAM_CLIENTS
        error = MachineError(
            status=code,
            address=self._read("ERROR_ADDRESS"),
            word=self._read("ERROR_WORD"),
            client=client,
            pc=self._read("FAULT_PC") if is_fault else None,
            i=coordinates["i"] if is_fault else None,
            j=coordinates["j"] if is_fault else None,
        )
        self._write_fields("CONTROL", clear_error=1, interrupt_enable=1)
        raise error

    def _write(self, name: str, value: int) -> None:
        self._machine.write(_REGISTERS[name].offset, value)

    def _write_fields(self, name: str, **fields: int) -> None:
        self._write(name, pack(_REGISTERS[name].layout, **fields))

    def _read(self, name: str) -> int:
        return self._machine.read(_REGISTERS[name].offset)

    def _read_fields(self, name: str) -> dict[str, int]:
        return unpack(_REGISTERS[name].layout, self._read(name))

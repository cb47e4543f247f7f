"""Runs drawn work on the compiled machine and on the golden model, and compares all that a host can see."""

from dataclasses import dataclass, replace

import numpy as np

from ctm.rtl.config import MachineConfig
from ctm.rtl.isa.status import BusClient, Status
from ctm.sim.engines.golden import GoldenEngine
from ctm.sim.engines.model import Disturbance
from ctm.sim.engines.rtl import RtlEngine
from ctm.sim.fault import CycleLimitError, MachineError
from ctm.tb.lib.faults import AllFaults
from ctm.tb.soak.work import MAINTENANCE, Buffer, Work
from ctm.tb.system.memories import copy, first_difference

MOST_CYCLES = 3_000_000
"""Of one command buffer; the longest one that is drawn takes a tenth of it."""
_CLEANUPS = 4


@dataclass(frozen=True)
class Outcome:
    """How a buffer ended, as far as machine and model have to agree."""

    status: Status
    client: BusClient | None = None
    address: int | None = None
    word: int | None = None

    @staticmethod
    def of(error: MachineError) -> "Outcome":
        if error.status is Status.BUS_ERROR:
            return Outcome(error.status, error.client)
        return Outcome(error.status, None, error.address, error.word)


_OK = Outcome(Status.OK)


class Model(GoldenEngine):
    """The golden model; `faults` are those of all groups: of several the machine may report any."""

    def __init__(self, config: MachineConfig, *, watchdog: int) -> None:
        observer = AllFaults()
        super().__init__(config, watchdog=watchdog, observers=[observer])
        self.faults = observer.found


class Hardware(RtlEngine):
    """The compiled machine; each buffer has a limit of cycles."""

    def __init__(self, config: MachineConfig, *, watchdog: int, disturbance: Disturbance) -> None:
        self.disturbance = disturbance
        super().__init__(config, watchdog=watchdog)

    def limit(self, cycles: int) -> None:
        """Let the next buffer take so many cycles."""
        self._max_cycles = self._cycles + cycles

    def execute_all(self, buffers: list[tuple[int, int]]) -> list[Status]:
        """Push all buffers at once, clear errors as they come, and wait for the last; the errors' statuses."""
        for address, dwords in buffers:
            self._write("QUEUE_ADDRESS", address)
            self._write("QUEUE_DWORDS", dwords)
            self._write("QUEUE_PUSH", 0)
        found = []
        end = self._machine.cycles + MOST_CYCLES
        while self._read("LAST_CONSUMED") != self._read("LAST_SUBMITTED") or self._read_fields("STATUS")["error"]:
            assert self._machine.cycles < end, "the machine hangs"
            self._machine.run(1000)
            self._write("INTERRUPT", 0xFFFF_FFFF)
            status = self._read_fields("STATUS")
            if status["error"]:
                found.append(Status(status["code"]))
                self._write_fields("CONTROL", clear_error=1, interrupt_enable=1)
        self._write("INTERRUPT", 0xFFFF_FFFF)
        return found


class Comparison:
    """One work on both, each buffer in `most_cycles` at most. All of it is a function of the work."""

    def __init__(self, work: Work, config: MachineConfig, *, most_cycles: int = MOST_CYCLES) -> None:
        self.work, self._most_cycles = work, most_cycles
        memory = replace(config.memory, latency=work.latency, bytes_per_cycle=work.bytes_per_cycle)
        config = replace(config, memory=memory)
        self.machine = Hardware(config, watchdog=work.watchdog, disturbance=work.disturbance)
        self.model = Model(config, watchdog=work.watchdog)
        for engine in (self.machine, self.model):
            for address, data in work.contents:
                engine.memory.write(address, data)
            for first, end in work.error_ranges:
                engine.memory.respond_with_errors(first, end)
        self._maintenance = np.array(MAINTENANCE, "<u4").tobytes()

    def run(self) -> list[Outcome]:
        """Run all buffers; how each ended.

        Raises
        ------
        AssertionError
            Machine and model differ; the message says in what.
        """
        outcomes = []
        for number, buffer in enumerate(self.work.buffers):
            what = f"seed {self.work.seed}, buffer {number}"
            if buffer.reset_after is not None:
                self._reset(buffer.address, buffer.dwords, buffer.reset_after)
            outcomes.append(self._both(buffer, what))
            self._clean_up(what)
            differing = first_difference(self.machine.memory, self.model.memory, ignored=self.work.ignored)
            assert differing is None, f"{what}: memory differs at 0x{differing:08x}"
        return outcomes

    def run_queued(self) -> list[Status]:
        """Push all buffers at once, with maintenance between them; the statuses of those that had an error.

        Raises
        ------
        AssertionError
            Machine and model differ.
        """
        what, work = f"seed {self.work.seed}, all at once", self.work
        for engine in (self.machine, self.model):
            engine.memory.write(work.maintenance, self._maintenance)
        maintenance = (work.maintenance, len(MAINTENANCE))
        buffers = [each for buffer in work.buffers for each in ((buffer.address, buffer.dwords), maintenance)]
        found, wanted = self.machine.execute_all(buffers), []
        for address, dwords in buffers:
            self.model.faults.clear()
            outcome, _ = self._execute(self.model, address, dwords, what)
            if outcome != _OK:
                wanted.append({outcome.status, *(fault[0] for fault in self.model.faults)})
        assert len(found) == len(wanted), f"{what}: {found}, expected {wanted}"
        assert all(status in allowed for status, allowed in zip(found, wanted, strict=True)), f"{what}: {found}"
        differing = first_difference(self.machine.memory, self.model.memory, ignored=work.ignored)
        assert differing is None, f"{what}: memory differs at 0x{differing:08x}"
        return found

    def _both(self, buffer: Buffer, what: str) -> Outcome:
        """Execute a buffer on both."""
        before = self._counts()
        wanted, _ = self._execute(self.model, buffer.address, buffer.dwords, what)
        self.machine.limit(self._most_cycles)
        found, error = self._execute(self.machine, buffer.address, buffer.dwords, what)
        faults = self.model.faults
        if error is not None and error.pc is not None:
            fault = (error.status, error.client, error.pc, error.i, error.j)[: buffer.equal_of_fault]
            allowed = {each[: len(fault)] for each in faults}
            assert fault in allowed, f"{what}: {error}; the model has {sorted(map(str, faults))}"
            assert wanted.status in {each[0] for each in faults}
        elif len({each[:2] for each in faults}) > 1 and found.status is Status.BUS_ERROR:
            # Where several groups fault, any of them may be reported.
            assert (found.status, found.client) in {each[:2] for each in faults}, f"{what}: {error}"
        else:
            assert found == wanted, f"{what}: {found}, expected {wanted}"
        if found == wanted == _OK and buffer.counted:
            machine, model = (
                {name: now[name] - then[name] for name in now} for now, then in zip(self._counts(), before, strict=True)
            )
            assert machine == model, f"{what}: {machine}, expected {model}"
        return found

    def _counts(self) -> list[dict[str, int]]:
        """What the machine and the model have counted, as far as that has to be the same."""
        return [engine.report().equal_counts for engine in (self.machine, self.model)]

    @staticmethod
    def _execute(engine: Hardware | Model, address: int, dwords: int, what: str) -> tuple[Outcome, MachineError | None]:
        try:
            engine.execute(address, dwords)
        except MachineError as error:
            return Outcome.of(error), error
        except CycleLimitError as error:
            raise AssertionError(f"{what}: the machine hangs") from error
        return _OK, None

    def _clean_up(self, what: str) -> None:
        """Bring everything to memory, and invalidate the caches."""
        self.model.faults.clear()
        for engine in (self.machine, self.model):
            engine.memory.write(self.work.maintenance, self._maintenance)
        for _ in range(_CLEANUPS):
            if self._both(Buffer(self.work.maintenance, len(MAINTENANCE), None), f"{what}, maintenance") == _OK:
                return
        raise AssertionError(f"{what}: a lost write is reported again and again")

    def _reset(self, address: int, dwords: int, cycles: int) -> None:
        """Run a buffer for so many cycles on the machine, reset both, and undo what it has written."""
        self.machine.limit(cycles)
        try:
            self.machine.execute(address, dwords)
            self.machine.reset()
        except MachineError:
            self.machine.reset()
        except CycleLimitError:
            pass  # It was reset.
        self.model.reset()
        copy(self.model.memory, self.machine.memory)

"""The golden model beside the machine: the same work, then every byte and every error compared."""

from typing import Any

from ctm.rtl.isa.status import Status
from ctm.sim.fault import MachineError
from ctm.sim.golden.machine import Machine
from ctm.sim.memory import Memory
from ctm.tb.cosim.memory import BusMemory
from ctm.tb.cosim.testbench import TB
from ctm.tb.cosim.work import Work

PAGE = 4096
_FAULTS = (Status.ILLEGAL_INSTRUCTION, Status.STACK, Status.PC_RANGE, Status.WATCHDOG)
_EXACT = ("status", "address", "word", "client", "pc", "i", "j")
_NOT_ALWAYS = ("pc", "i", "j")
"""Of several wavefronts that fault, machine and model may report different ones."""


class Scoreboard:
    """Runs work on the machine of a testbench and on the golden model."""

    def __init__(self, tb: TB, *, watchdog: int = 0) -> None:
        self.tb, self._watchdog = tb, watchdog
        self.model = Memory()
        self._machine = Machine(tb.config.array, self.model, watchdog=watchdog)
        self._pages: set[int] = set()
        self._skipped: list[tuple[int, int]] = []

    async def prepare(self) -> None:
        """What a driver does after a reset."""
        await self.tb.prepare(self._watchdog)

    def load(self, work: Work) -> None:
        """Put work into both memories."""
        work.load(self.model)
        for address, data in work.contents:
            self.tb.memory.contents.write(address, data)
            self._pages.update(range(address // PAGE, (address + len(data) - 1) // PAGE + 1))
        self._skipped += work.skipped

    def respond_with_errors(self, first: int, end: int) -> None:
        """Let both memories respond with errors to a range of whole lines."""
        self.model.respond_with_errors(first, end)
        self.tb.memory.error_lines.append((first, end))

    def allow(self) -> None:
        """Let both memories respond without errors again."""
        self.model.error_ranges.clear()
        self.tb.memory.error_lines.clear()

    def expected(self, address: int, dwords: int) -> MachineError | None:
        """Run a command buffer on the model."""
        try:
            self._machine.run(address, dwords)
        except MachineError as error:
            return error
        return None

    async def run(self, work: Work, *, exact: bool = False) -> list[Status]:
        """Run all buffers of work and compare; the status of each.

        With `exact` a fault's wavefront and PC count, too.
        """
        self.load(work)
        found = []
        for address, dwords in work.buffers:
            found.append(await self.execute(address, dwords, exact=exact))
        self.compare()
        return found

    async def execute(self, address: int, dwords: int, *, exact: bool = True) -> Status:
        """Run a command buffer on both and compare the error."""
        expected = self.expected(address, dwords)
        found = await self.tb.execute(address, dwords)
        same_error(found, expected, exact=exact)
        return Status.OK if found is None else found.status

    def compare(self) -> None:
        """See that both memories hold the same, wherever either was written."""
        ram: BusMemory = self.tb.memory
        pages = self._pages | {address // PAGE for address in ram.contents.segs}
        for page in sorted(pages):
            first = page * PAGE
            found, expected = bytearray(ram.contents.read(first, PAGE)), bytearray(self.model.read(first, PAGE))
            for address, size in self._skipped:
                if address // PAGE == page:
                    index = address % PAGE
                    found[index : index + size] = expected[index : index + size]
            if found != expected:
                index = next(byte for byte in range(PAGE) if found[byte] != expected[byte]) & ~3
                words = [data[index : index + 4][::-1].hex() for data in (found, expected)]
                raise AssertionError(f"memory at 0x{first + index:08x} is 0x{words[0]}, not 0x{words[1]}")


def same_error(found: MachineError | None, expected: MachineError | None, *, exact: bool) -> None:
    """See that an error is the one that was expected.

    Raises
    ------
    AssertionError
        It is not.
    """
    if found is None or expected is None:
        assert found is expected, f"the error is {found}, not {expected}"
        return
    mine, wanted = _fields(found), _fields(expected)
    if not exact and found.status in _FAULTS:
        for name in _NOT_ALWAYS:
            mine[name] = wanted[name] = None
        if expected.status in _FAULTS:
            mine["status"] = wanted["status"]
    assert mine == wanted, f"the error is {found}, not {expected}"


def _fields(error: MachineError) -> dict[str, Any]:
    """The registers' values: a bus error of a program has the address of its access only."""
    fields = {name: getattr(error, name) for name in _EXACT}
    if error.status is Status.BUS_ERROR:
        for name in ("word", "pc", "i", "j"):
            fields[name] = None
    return fields

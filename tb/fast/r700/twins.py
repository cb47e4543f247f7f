"""The machine of the R700's tests twice: the golden model, and engine `fast`, which has to leave the same."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ctm.rtl.config import R700, ArrayConfig
from ctm.sim.engines.fast.host import Host
from ctm.sim.engines.golden import report_of
from ctm.sim.fault import MachineError
from ctm.sim.golden.dpp.counters import Counters
from ctm.sim.golden.machine import Machine
from ctm.sim.memory import Memory
from ctm.tb.fast.watched import WatchedEngine
from ctm.tb.system.memories import copy, first_difference


class Twins:
    """Both, as the tests make one. After each run they are compared, but where hazards are watched.

    `host` is what programs are compiled for; `remarks` are those of all engines that were made.
    """

    host = Host.this(8)
    remarks: list[str] = []

    def __init__(
        self, array: ArrayConfig, memory: Memory, *, watchdog: int, hazards: bool, observers: Sequence[Any]
    ) -> None:
        self._golden = Machine(array, memory, watchdog=watchdog, hazards=hazards, observers=observers)
        self._memory = memory
        self._fast = None
        if not hazards:
            self._fast = WatchedEngine(replace(R700, array=array), watchdog=watchdog, threads=1, host=self.host)

    @property
    def counters(self) -> Counters:
        """Those of the golden model."""
        return self._golden.counters

    def run(self, address: int, dwords: int) -> None:
        """Run a command buffer; what the golden model raises.

        Raises
        ------
        AssertionError
            They differ, and the message says in what; or the golden model ran groups for `fast` that do not fault.
        """
        if self._fast is not None:
            copy(self._memory, self._fast.memory)
        expected = _attempt(lambda: self._golden.run(address, dwords))
        if self._fast is not None:
            fast = self._fast
            found = _attempt(lambda: fast.execute(address, dwords))
            assert str(found) == str(expected)
            differing = first_difference(fast.memory, self._memory, ignored=set())
            assert differing is None, f"memory differs at 0x{differing:08x}"
            assert fast.report() == report_of(self.counters)
            assert expected is not None or fast.remarks or not fast.given_back
            Twins.remarks += fast.remarks
        if expected is not None:
            raise expected


def _attempt(run: Any) -> MachineError | None:
    try:
        run()
    except MachineError as error:
        return error
    return None

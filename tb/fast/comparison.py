"""The same work on engine `fast` and on the golden engine: all that a host can see has to be equal."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ctm.rtl.config import DEFAULT_PRESETS, PRESETS, MachineConfig
from ctm.sim.engines.fast.engine import FastEngine
from ctm.sim.engines.fast.host import Host
from ctm.sim.engines.golden import GoldenEngine
from ctm.sim.fault import MachineError
from ctm.sim.runtime import CommandBuffer
from ctm.tb.r5xx.random_cases import Case
from ctm.tb.soak.work import Work
from ctm.tb.system.memories import first_difference

COMMANDS = 0x4000_0000
REMARKS = ("too many paths", "past the caches", "overlap", "responds with errors")
"""Why a program may be left to the golden model."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """Command buffers for a machine of `config`, and what memory holds before."""

    name: str
    config: MachineConfig
    watchdog: int
    contents: Sequence[tuple[int, bytes]]
    buffers: Sequence[tuple[int, int]]
    error_ranges: Sequence[tuple[int, int]] = ()
    ignored: set[int] = field(default_factory=set)

    @staticmethod
    def of_case(case: Case) -> "Task":
        """A random program."""
        commands = CommandBuffer()
        commands.words = [*case.commands.words, *CommandBuffer().start_program().words]
        return Task(
            name=f"seed {case.seed}, groups of {case.lanes}",
            config=machine(case.lanes),
            watchdog=case.watchdog,
            contents=(*case.contents, (COMMANDS, bytes(commands))),
            buffers=[(COMMANDS, len(commands.words))],
        )

    @staticmethod
    def of_work(work: Work, config: MachineConfig) -> "Task":
        """Random command buffers."""
        return Task(
            name=f"work {work.seed}",
            config=config,
            watchdog=work.watchdog,
            contents=work.contents,
            buffers=[(buffer.address, buffer.dwords) for buffer in work.buffers],
            error_ranges=work.error_ranges,
            ignored=work.ignored,
        )

    def on(self, engine: FastEngine | GoldenEngine) -> list[str | None]:
        """Run all buffers; the error of each, or None."""
        for address, data in self.contents:
            engine.memory.write(address, data)
        for first, end in self.error_ranges:
            engine.memory.respond_with_errors(first, end)
        return [_error(engine, *buffer) for buffer in self.buffers]


def _error(engine: FastEngine | GoldenEngine, address: int, dwords: int) -> str | None:
    try:
        engine.execute(address, dwords)
    except MachineError as error:
        return str(error)
    return None


def machine(group: int, kind: str = "r5xx") -> MachineConfig:
    """The default machine of an instruction set with groups of another size."""
    config = PRESETS[DEFAULT_PRESETS[kind]]
    return replace(config, array=config.array.with_wavefront(group))


def check(task: Task, host: Host, *, threads: Sequence[int] = (1,)) -> list[str]:
    """Run a task on both engines, on `fast` once with each number of threads; what `fast` remarks.

    Raises
    ------
    AssertionError
        They differ, or `fast` left a program to the golden model for no known reason; the message says what.
    """
    remarks: list[str] = []
    golden = GoldenEngine(task.config, watchdog=task.watchdog)
    expected = task.on(golden)
    for count in threads:
        fast = FastEngine(task.config, watchdog=task.watchdog, threads=count, host=host)
        found = task.on(fast)
        what = f"{task.name}, vectors of {host.width} on {host.cpu}, {count} threads"
        assert found == expected, f"{what}: {found}, expected {expected}"
        address = first_difference(fast.memory, golden.memory, ignored=task.ignored)
        assert address is None, f"{what}: memory differs at 0x{address:08x}"
        assert fast.report() == golden.report(), f"{what}: {fast.report()}, expected {golden.report()}"
        remarks += fast.remarks
    for remark in remarks:
        assert any(reason in remark for reason in REMARKS), remark
    return remarks

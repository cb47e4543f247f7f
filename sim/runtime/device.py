"""A device: an engine, its memory, and a queue of command buffers."""

import functools
from collections import deque
from collections.abc import Callable, Sequence
from importlib import import_module
from numbers import Integral
from threading import RLock
from typing import Any, Concatenate, ParamSpec, Self, TextIO, TypeVar

import numpy.typing as npt

from ctm.rtl.config import DEFAULT, MachineConfig
from ctm.rtl.isa.host import QUEUE_DEPTH
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.isa.status import Status
from ctm.sim.elf import Executable, write
from ctm.sim.elf.sources import with_lines
from ctm.sim.engines.choice import TRACED, make_engine
from ctm.sim.engines.engine import Engine, Progress, Report
from ctm.sim.engines.fast.engine import FastEngine
from ctm.sim.engines.golden import GoldenEngine
from ctm.sim.engines.seen import Seen, Watching
from ctm.sim.engines.waves.window import Written
from ctm.sim.fault import MachineError
from ctm.sim.memory import Memory
from ctm.sim.profile.profile import ProgramProfile, profiles
from ctm.sim.runtime.commands import CommandBuffer
from ctm.sim.runtime.heap import LOCAL, REGIONS, Heap
from ctm.sim.runtime.image import Image
from ctm.sim.runtime.layout import Layout
from ctm.sim.runtime.origins import Origins
from ctm.sim.runtime.types import check_type

WATCHDOG = 1 << 24
"""The default limit of wavefront instructions that a program may execute."""
MOST_WATCHDOG = (1 << WORD_BITS) - 1
"""The greatest one: the machine's is a word."""

_P = ParamSpec("_P")
_R = TypeVar("_R")


def _exclusive(method: Callable[Concatenate["Device", _P], _R]) -> Callable[Concatenate["Device", _P], _R]:
    """A method during which its thread holds the device."""

    @functools.wraps(method)
    def holding(device: "Device", /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        with device:
            return method(device, *args, **kwargs)

    return holding


class Device:
    """The machine, ready to use.

    Threads may share it: each method waits until no other thread holds the device. ``with device:`` holds it for a
    sequence that belongs together, such as images, the commands that use them, and what they give. The machine's state,
    its queue and the errors of what was queued are common to all threads.

    Parameters
    ----------
    engine
        Which engine runs it, see `ctm.sim.engines.choice`.
    config
        The machine's configuration. Results do not depend on it.
    watchdog
        Instructions that a wavefront may execute before it is stopped, 0 = any number.
    progress
        Called while programs run.
    hazards
        Report reads of what the rules of synchronisation do not promise, as HAZARD; golden engine only.
    max_cycles
        Cycles after which a cycle-accurate engine raises `ctm.sim.fault.CycleLimitError`.
    trace
        Where the golden engine writes a line for each wavefront after each instruction.
    port
        Where the board of engine `serial` is: ``PATH`` or ``PATH@BAUD``.
    watch
        What `seen` is to keep; engines `golden` and `rtl`. Or the wave that is to be written, see `end_waves`.
    """

    def __init__(
        self,
        engine: str = "golden",
        config: MachineConfig = DEFAULT,
        *,
        watchdog: int = WATCHDOG,
        progress: Progress | None = None,
        hazards: bool = False,
        max_cycles: int | None = None,
        trace: TextIO | None = None,
        port: str | None = None,
        watch: Watching | None = None,
    ) -> None:
        check_type("config", config, MachineConfig)
        check_type("watchdog", watchdog, Integral)
        if watch is not None:
            check_type("watch", watch, Watching)
        if not 0 <= watchdog <= MOST_WATCHDOG:
            raise ValueError(f"watchdog must be 1..{MOST_WATCHDOG} instructions, or 0 for any number, not {watchdog}")
        if max_cycles is not None:
            check_type("max_cycles", max_cycles, Integral)
            if max_cycles < 1:
                raise ValueError(f"max_cycles must be 1 or more, or None for any number, not {max_cycles}")
        self.config = config
        self._lock = RLock()
        self._watchdog = watchdog
        self._engine = self._make_engine(
            engine, config, watchdog=watchdog, progress=progress, hazards=hazards, max_cycles=max_cycles, trace=trace,
            port=port, watch=watch,
        )  # fmt: skip
        self._origins = Origins(self._engine.memory, config.array.instruction_set)
        if isinstance(self._engine, GoldenEngine | FastEngine):
            self._engine.origin = self._origins.described
        self._heap = Heap(self._engine.memory.size)
        self._queue: deque[tuple[int, int]] = deque()
        self.last_submitted = 0
        self.last_consumed = 0

    def _make_engine(self, engine: str, config: MachineConfig, **options: Any) -> Engine:
        return make_engine(engine, config, **options)

    def __enter__(self) -> Self:
        self._lock.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def profiles(self) -> list[ProgramProfile]:
        """What programs issued and waited for since the device was made, each with its source lines.

        Raises
        ------
        ValueError
            They were not watched.
        """
        seen = self.seen()
        bases = dict.fromkeys(map(int, seen.rows["executable"]))
        programs = {base: found for base in bases if (found := self.program_at(base)) is not None}
        return profiles(seen, programs)

    def program_at(self, base: int) -> tuple[str, Executable] | None:
        """Name and executable of the program that lies at an address; None if there is none that can be read."""
        program: Any = self._origins.program(base)
        if program is None:
            return None
        return program.lines.files[0] if program.lines else f"program at 0x{base:x}", program

    @_exclusive
    def continue_from(self, other: "Device") -> None:
        """Make the memory of this device, which is new, what that of another one is, as far as it is allocated."""
        with other:
            for first, end in map(other.used, REGIONS):
                self.memory.bytes[first:end] = other.memory.bytes[first:end]
            self._heap = other._heap.copy()
            self._origins.add_all(other._origins)

    def debug(
        self, calls: CommandBuffer | Callable[["Device"], object], *, engine: str = "golden", hazards: bool = False
    ) -> Any:
        """A session that stops in what `calls` run, a `ctm.sim.debug.debugger.Debugger`; docs/debugger.md.

        `calls` is a command buffer, or a function of a device: kernels, buffers, several of them. They run on devices
        of the session's own, which are in the reset state and have this one's allocated memory as it is now, and this
        device is unchanged. `engine` is golden or rtl. With `hazards` it stops in front of reads of what was not
        promised.

        Raises
        ------
        ctm.sim.debug.error.DebugError
            They run no program.
        MachineError
            They fail before the first program runs.
        """
        # It is on a floor above this one, and only programs that are debugged load it.
        debugger = import_module("ctm.sim.debug.debugger")
        return debugger.of_device(self, calls, engine=engine, watchdog=self._watchdog, hazards=hazards)

    @_exclusive
    def seen(self) -> Seen:
        """What was seen of programs since the device was made.

        Raises
        ------
        ValueError
            They were not watched.
        """
        return self._engine.seen()

    @property
    def memory(self) -> Memory:
        """The memory of the machine: 4 GiB, or what its board has. Threads must not share what they write."""
        return self._engine.memory

    @_exclusive
    def allocate(self, size: int, region: str = LOCAL) -> int:
        """The address of `size` bytes of free memory, fit for a base address; `region` is local or system."""
        return self._heap.allocate(size, region)

    @_exclusive
    def used(self, region: str) -> tuple[int, int]:
        """First address and end of the memory of a region that `allocate` has handed out."""
        return self._heap.used(region)

    @_exclusive
    def place(self, data: bytes | Executable, region: str = LOCAL) -> int:
        """The address of a new copy of `data` in the machine's memory; of a program, of its ELF file.

        The line table of a program is kept here, for messages: the machine has no use for it.
        """
        if not isinstance(data, bytes) and not hasattr(data, "kind"):
            made = "; assemble makes an executable of a source" if isinstance(data, str) else ""
            raise TypeError(f"data must be bytes or an executable, not a {type(data).__name__}{made}")
        contents = data if isinstance(data, bytes) else write(with_lines(data, None))
        address = self.allocate(len(contents), region)
        self.memory.write(address, contents)
        if not isinstance(data, bytes):
            self._origins.add(address, data)
        return address

    @_exclusive
    def image(self, layout: Layout, values: npt.ArrayLike | None = None, region: str = LOCAL) -> Image:
        """A new image, holding `values` if they are given."""
        check_type("layout", layout, Layout)
        result = Image(memory=self.memory, base=self.allocate(layout.size, region), layout=layout)
        if values is not None:
            result.write(values)
        return result

    @_exclusive
    def submit(self, commands: CommandBuffer, address: int | None = None) -> int:
        """Queue a command buffer and return its id; it is written to memory, at `address` if one is given.

        Raises
        ------
        MachineError
            QUEUE_FULL: eight buffers wait already.
        """
        check_type("commands", commands, CommandBuffer)
        data = bytes(commands)
        if address is None:
            address = self.place(data)
        else:
            self.memory.write(address, data)
        return self.submit_at(address, len(commands.words))

    @_exclusive
    def submit_at(self, address: int, dwords: int) -> int:
        """Queue the buffer of `dwords` words that lies at `address`, a multiple of four; errors as `submit`."""
        if address % 4:
            raise ValueError(f"a command buffer's address must be a multiple of 4, not 0x{address:x}")
        if len(self._queue) >= QUEUE_DEPTH:
            detail = f"{QUEUE_DEPTH} command buffers wait already"
            raise MachineError(status=Status.QUEUE_FULL, detail=detail)
        self._queue.append((address, dwords))
        self.last_submitted += 1
        return self.last_submitted

    @_exclusive
    def wait(self) -> None:
        """Run every queued buffer.

        Raises
        ------
        MachineError
            A buffer was dropped; it counts as consumed. Those after it are still queued and run at the next call.
        """
        while self._queue:
            address, dwords = self._queue.popleft()
            self.last_consumed += 1
            try:
                self._engine.execute(address, dwords)
            except MachineError as error:
                raise self._origins.located(error, address, dwords) from None
            finally:
                self._origins.executed(address, dwords)

    @_exclusive
    def expect(self, starts: int) -> None:
        """Say that the next program will be started so often, this time included; see `Engine.expect`."""
        self._engine.expect(starts)

    @_exclusive
    def run(self, commands: CommandBuffer) -> None:
        """Submit a buffer and wait for it."""
        self.submit(commands)
        self.wait()

    @_exclusive
    def reset(self) -> None:
        """Return to the reset state; memory keeps its contents.

        Raises
        ------
        MachineError
            RESET: buffers were waiting and are lost.
        """
        lost = len(self._queue)
        self._queue.clear()
        self.last_consumed = self.last_submitted
        self._engine.reset()
        self._origins.reset()
        if lost:
            raise MachineError(status=Status.RESET, detail=f"{lost} queued command buffers were dropped")

    @_exclusive
    def report(self) -> Report:
        """What the engine counted so far."""
        return self._engine.report()

    def end_waves(self) -> Written:
        """End the wave that `watch` requested, which can then be read, and say what it has.

        Raises
        ------
        OSError
            The file could not be written completely.
        ValueError
            None was requested.
        """
        engine: Any = self._engine
        if type(engine) not in TRACED.values():
            raise ValueError("no wave was requested: make the device with watch=Waves(path=...)")
        written: Written = engine.end()
        return written

    @property
    def ran(self) -> str:
        """The name of the engine that ran programs: of `auto` the one that it chose."""
        return self._engine.ran

    @property
    def remarks(self) -> Sequence[str]:
        """What the engine has to say of how it ran them."""
        return self._engine.remarks

    def standing(self) -> Report:
        """What the engine had counted at its last report of progress; to be called by the receiver of progress."""
        return self._engine.standing()

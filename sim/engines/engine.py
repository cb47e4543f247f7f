"""The protocol that every engine follows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ctm.rtl.config import MachineConfig
from ctm.sim.engines.seen import Seen
from ctm.sim.memory import Memory

Progress = Callable[[int], None]
"""Called now and then with the number of pixels that have finished since the last call."""


Notice = Callable[[], None]
"""Called before something that takes long."""


_EQUAL = ("groups", "issued_alu", "issued_tex", "issued_fc")
"""Counters that do not depend on when things happen."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """What an engine did since it was made."""

    cycles: int | None
    """None where the engine does not count cycles."""
    instructions: int
    """Group instructions issued."""
    lane_instructions: int
    """The same, each times the active lanes of its group."""
    counters: dict[str, int] = field(default_factory=dict)

    @property
    def equal_counts(self) -> dict[str, int]:
        """What every engine counts alike with groups of the same size, of buffers that ended without an error."""
        counters = {name: self.counters[name] for name in _EQUAL if name in self.counters}
        return {"instructions": self.instructions, "lane_instructions": self.lane_instructions, **counters}


def compiling(engine: str) -> str:
    """What a user is told before the machine is compiled for an engine."""
    return f"compiling the machine for engine '{engine}', once for this configuration (a minute or two) ..."


class Engine(Protocol):
    """Executes command buffers that lie in its memory, one after the other."""

    name: str
    counts_cycles: bool
    memory: Memory

    @property
    def ran(self) -> str:
        """The name of the engine that ran programs: its own, if it did not leave them to another."""

    @property
    def remarks(self) -> Sequence[str]:
        """What a user should know of how they were run."""

    @staticmethod
    def prepare(config: MachineConfig, tell: Notice) -> None:
        """Make, and keep, what engines of this configuration need; `tell` is called if that takes long.

        Raises
        ------
        ToolchainError
            A tool is missing or failed.
        """

    def expect(self, starts: int) -> None:
        """The program that is started next will be started so often, for all that is known; once if nothing is said.

        It changes how long things take, and nothing else.
        """

    def execute(self, address: int, dwords: int) -> None:
        """Execute the buffer of `dwords` words at `address` (a multiple of four) to its end.

        Raises
        ------
        MachineError
            The remainder of the buffer was dropped; the next one runs.
        """

    def reset(self) -> None:
        """Return to the reset state. Memory keeps its contents."""

    def report(self) -> Report:
        """Counts since the engine was made."""

    def seen(self) -> Seen:
        """What was seen of programs since the engine was made.

        Raises
        ------
        ValueError
            They were not watched.
        """

    def standing(self) -> Report:
        """The same while a buffer is executed, from within `Progress`; the machine is not accessed."""

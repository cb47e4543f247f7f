"""The interface of an array to the command processor, whatever its instruction set."""

from typing import Protocol

from ctm.sim.fault import MachineError
from ctm.sim.golden.draw.stages import Stages
from ctm.sim.golden.draw.state import DrawState, Start
from ctm.sim.golden.pe.domain import DomainWavefronts
from ctm.sim.golden.pe.state import State


class Run(Protocol):
    """A program that is running."""

    def add(self, wavefronts: DomainWavefronts) -> None:
        """Run wavefronts to their end. One without a covered pixel is not issued."""

    def finish(self) -> MachineError | None:
        """The error of the whole program, None where there is none; called once, when all wavefronts were added."""


class Core(Protocol):
    """The array of cores. `lanes` is the size of a wavefront."""

    lanes: int

    def invalidate_program(self) -> None:
        """Load the program again at the next start."""

    def stages(self, state: State, draws: DrawState, start: Start) -> Stages:
        """The programs of a draw, with the state that commands have set; errors as `start`."""

    def start(self, state: State) -> Run:
        """Begin a program with the state that commands have set.

        Raises
        ------
        MachineError
            The program cannot run.
        """

"""A program of any kind, as the tools around the machine see it."""

from typing import Protocol

from ctm.sim.elf.constants import OwnConstants
from ctm.sim.elf.lines import Lines
from ctm.sim.elf.notes import Notes


class Executable(Protocol):
    """What there is of every program; each instruction set has a class of its own."""

    @property
    def kind(self) -> str:
        """The instruction set that the program is for."""

    @property
    def notes(self) -> Notes:
        """What it uses."""

    @property
    def uncached_writes(self) -> bool:
        """Whether it writes outputs past the caches, at addresses of its own."""

    @property
    def scatters(self) -> bool:
        """Whether it writes elements of output 0 by their numbers."""

    @property
    def sees_wavefront_size(self) -> bool:
        """Whether its results may depend on how many pixels a wavefront has."""

    @property
    def own_constants(self) -> OwnConstants:
        """Constants that it brings along."""

    @property
    def lines(self) -> Lines | None:
        """Which lines of sources its code comes from, if that is known."""

    @property
    def scaled_inputs(self) -> frozenset[int]:
        """Inputs that some instruction looks up with coordinates from 0 to 1."""

"""The path of a wavefront: its control state before each instruction, and its whole state at requested steps."""

from typing import Any

from ctm.sim.debug.hardware.wavefront import AnyWavefront
from ctm.sim.golden.dpp.batch import Batch

_BLOCK = 64
"""States that are kept at once: as many as lie between two checkpoints of a wavefront."""


class Track:
    """A wavefront up to a step, after which nothing is looked at; it is executed again where it has to be.

    It begins where something was set by hand last, instruction `first`; steps here count from there. `reads_memory`: a
    state is requested together with the memory as it was then.
    """

    def __init__(self, wavefront: AnyWavefront, end: int | None, *, reads_memory: bool) -> None:
        self._wavefront = wavefront
        self._block = 1 if reads_memory else _BLOCK
        self.first = max((edit for edit in wavefront.edits if end is None or edit <= end), default=0)
        self._begin = 0
        self._states: list[Batch[Any]] = []
        wavefront.back_to(self.first)
        self.controls: list[Any] = []
        """In front of each instruction."""
        while not wavefront.is_over and (end is None or self.first + len(self.controls) < end):
            self.controls.append(wavefront.batch.control)
            wavefront.advance()
        if wavefront.error is not None:
            # What failed left nothing.
            self.controls.pop()
        self.last: Batch[Any] = wavefront.batch.copy()
        self.has_ended = wavefront.has_ended

    def __len__(self) -> int:
        return len(self.controls)

    def state(self, step: int) -> Batch[Any]:
        """The state in front of an instruction; it may not be changed."""
        if not self._begin <= step < self._begin + len(self._states):
            self._begin = max(0, step + 1 - self._block)
            self._wavefront.back_to(self.first + self._begin)
            self._states = [self._wavefront.batch.copy()]
            while len(self._states) < step + 1 - self._begin:
                self._wavefront.advance()
                self._states.append(self._wavefront.batch.copy())
        return self._states[step - self._begin]

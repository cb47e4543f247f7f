"""A wavefront on the hardware, which goes forward and back over what its core showed."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

from ctm.sim.debug.error import DebugError
from ctm.sim.debug.hardware.moment import Recording
from ctm.sim.debug.hardware.signals import Signals
from ctm.sim.debug.images.elements import Store
from ctm.sim.debug.stopping.stores import Area
from ctm.sim.debug.wavefront import Wavefront
from ctm.sim.fault import MachineError
from ctm.sim.golden.dpp.batch import Batch, Mask


class HardwareWavefront:
    """A wavefront as the hardware executed it: see `Wavefront`, whose members these are.

    `model` is the same wavefront on the golden model, which goes with it: it has what the hardware does not show, and
    memory is what it stores.
    """

    def __init__(
        self, model: Wavefront, record: Callable[[Batch[Any]], Recording], look: Callable[[int], Signals]
    ) -> None:
        self.model, self._look = model, look
        self._record, self._start = record, model.batch.copy()
        self.order = model.order
        self.edits: list[int] = []
        self._shown: tuple[int, Batch[Any]] | None = None

    @cached_property
    def recording(self) -> Recording:
        """What the hardware did with it, made on first use; DebugError: it does not come to it."""
        return self._record(self._start)

    @property
    def step(self) -> int:
        """Instructions that it has executed."""
        return self.model.step

    @property
    def cycle(self) -> int:
        """The cycle in which its last instruction was done, or in which it took its wave slot."""
        moments, step = self.recording.moments, self.step
        return moments[min(step, len(moments)) - 1].cycle if step and moments else self.recording.begun

    def signals(self) -> Signals:
        """All signals of the machine in its cycle."""
        return self._look(self.cycle)

    @property
    def batch(self) -> Batch[Any]:
        """Its state, as the hardware traces it."""
        step, moments = self.step, self.recording.moments
        if self._shown is None or self._shown[0] != step or self._shown[1].control != self.model.batch.control:
            state = self.model.batch
            shown = moments[step - 1].put_on(state) if 0 < step <= len(moments) else state.copy()
            self._shown = step, shown
        return self._shown[1]

    @property
    def error(self) -> MachineError | None:
        """Its fault."""
        return self.model.error

    @property
    def has_ended(self) -> bool:
        """Whether it is after its end."""
        return self.model.has_ended

    @property
    def is_over(self) -> bool:
        """Whether it has ended or failed."""
        return self.model.is_over

    def advance(self) -> None:
        """Step over the next instruction.

        Raises
        ------
        DebugError
            The hardware executed another one than the golden model, or none.
        """
        moments, step, pc = self.recording.moments, self.step, self.model.batch.control.pc
        self.model.advance()
        if self.model.step == step:
            return
        if step >= len(moments):
            self.model.back_to(step)
            raise DebugError(f"the hardware stopped here, where the golden model executes pc {pc}")
        if moments[step].pc != pc:
            self.model.back_to(step)
            raise DebugError(f"the hardware executed pc {moments[step].pc}, the golden model executes pc {pc}")

    def leap(self, state: Batch[Any]) -> None:
        """Nothing: each of its instructions is compared with the golden model's."""

    def back_to(self, step: int) -> None:
        """Return to an earlier step."""
        self.model.back_to(step)
        self._shown = None

    def step_at(self, cycle: int) -> int:
        """The instructions that it had executed at the end of a cycle."""
        return sum(moment.cycle <= cycle for moment in self.recording.moments)

    def edit(self) -> None:
        """Nothing of hardware can be set: what is shown has been recorded; DebugError."""
        self._shown = None
        raise DebugError("what the hardware did is recorded, nothing of it can be set; engine golden can")

    def store(self, store: Store) -> None:
        """The same; DebugError."""
        del store
        self.edit()

    def storing(self, area: Area) -> Mask:
        """See `Wavefront.storing`."""
        return self.model.storing(area)


AnyWavefront = Wavefront | HardwareWavefront
"""On the golden model or on the hardware."""

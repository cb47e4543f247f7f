"""Where a run stops: breakpoints, and what finds them while many wavefronts run at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ctm.sim.debug.expressions import Expression
from ctm.sim.debug.views import View
from ctm.sim.golden.dpp.batch import Batch
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.dpp.steps import Steps
from ctm.sim.golden.dpp.tally import Tally


@dataclass(kw_only=True)
class Stop:
    """A breakpoint.

    A wavefront stops in front of an instruction at one of `units`, or, without units, at its start, if it has a lane
    that is active, covered and valid for which `condition` holds, and that is `pixel` where there is one.
    """

    number: int
    text: str
    executable: int | None = None
    """The address of the program that it is in."""
    units: frozenset[int] | None = None
    condition: Expression | None = None
    pixel: tuple[int, int] | None = None
    is_temporary: bool = False
    hits: int = 0

    def lanes(
        self, view: View, batch: Batch[Any], launch: Launch[Any], unit: int, steps: npt.NDArray[np.signedinteger]
    ) -> npt.NDArray[np.bool_] | None:
        """The lanes for which wavefronts that executed `steps` instructions stop here; None if no wavefront does."""
        if self.executable is not None and launch.executable != self.executable:
            return None
        if self.units is not None and unit not in self.units:
            return None
        found = batch.covered & batch.valid_mask
        found = found & (batch.active if self.units is not None else batch.by_lane(steps == 0))
        if self.pixel is not None:
            found = found & (batch.i == self.pixel[0]) & (batch.j == self.pixel[1])
        if self.condition is not None and found.any():
            found = found & self.condition.holds(view, batch, launch)
        return found if found.any() else None


@dataclass
class Scout(Tally):
    """Finds the first stop of wavefronts that run together: `found` is order and step of it, and the stop.

    With `latest` it is the last one before that.
    """

    steps: Steps = field(default_factory=lambda: Steps(0))
    stops: Sequence[Stop] = ()
    view: View | None = None
    unit: Callable[[int], int] = int
    launch: Launch[Any] | None = None
    latest: bool = False
    found: tuple[int, int, Stop] | None = None

    def add(self, launch: int, batch: Batch[Any]) -> None:
        """See `Tally.add`."""
        del launch
        assert self.view is not None and self.launch is not None
        # The instruction that is about to be executed is counted already.
        unit, steps = self.unit(batch.control.pc), batch.executed + batch.steps - 1
        for stop in self.stops:
            lanes = stop.lanes(self.view, batch, self.launch, unit, steps)
            if lanes is None:
                continue
            groups = np.flatnonzero(batch.any_lane(lanes))
            first = max if self.latest else min
            chosen = first(groups.tolist(), key=lambda group: (int(batch.order[group]), int(steps[group])))
            place = int(batch.order[chosen]), int(steps[chosen]), stop
            if self.found is None or first(place[:2], self.found[:2]) != self.found[:2]:
                self.found = place

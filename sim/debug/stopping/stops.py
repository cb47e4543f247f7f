"""Where a run stops: breakpoints, and what finds them while many wavefronts run at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ctm.sim.debug.stopping.expressions import Expression
from ctm.sim.debug.stopping.stores import Area, Element, stores_of
from ctm.sim.debug.views import View
from ctm.sim.golden.dpp.batch import Batch, Integers, Mask
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.dpp.steps import Steps
from ctm.sim.golden.dpp.tally import Tally
from ctm.sim.golden.r700.draws.pixels import PixelLaunch

AT_END = 1 << 62
"""The step of a stop at a wavefront's end, which is after all others."""
_UNKNOWN = -2
"""A step that is none, nor the one before the first."""


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
    watched: Expression | None = None
    """Wavefronts stop after an instruction that changed its value in a lane, instead of at a unit."""
    order: int | None = None
    """Of a hazard: the index in the domain walk of the one wavefront that stops, for the lane of `pixel` if it can."""
    stored: Area | Element | None = None
    """Wavefronts stop after a store to it, instead of at a unit."""
    fragments: Callable[[Launch[Any]], frozenset[int]] | None = None
    """Of an element of a draw's target: the indices of the strips of a launch that store it, for `pixel`."""
    finds: Callable[[], frozenset[int]] | None = None
    """Of a location in a program that has not run: the units in the one that runs, none if it is another one."""
    hits: int = 0
    _known: "_Known" = field(default_factory=lambda: _Known())

    def bind(self, executable: int) -> None:
        """Resolve a pending location in the program that runs, at this address."""
        units = frozenset[int]() if self.finds is None else self.finds()
        if units:
            self.executable, self.units, self.finds = executable, units, None

    def lanes(
        self, view: View, batch: Batch[Any], launch: Launch[Any], unit: int, steps: npt.NDArray[np.signedinteger]
    ) -> npt.NDArray[np.bool_] | None:
        """The lanes for which wavefronts that executed `steps` instructions stop here; None if no wavefront does."""
        if self.stored is not None or (self.executable is not None and launch.executable != self.executable):
            return None
        if self.units is not None and unit not in self.units:
            return None
        found = batch.covered & batch.valid_mask
        if self.watched is not None:
            found = found & self._known.changed(self.watched.words(view, batch, launch, steps), batch, steps)
        else:
            found = found & (batch.active if self.units is not None else batch.by_lane(steps == 0))
        if self.order is not None:
            found = found & batch.by_lane(batch.order == self.order)
            own = found & (batch.i == self.pixel[0]) & (batch.j == self.pixel[1]) if self.pixel else found
            found = own if own.any() else found
        elif self.pixel is not None:
            found = found & (batch.i == self.pixel[0]) & (batch.j == self.pixel[1])
        if self.condition is not None and found.any():
            found = found & self.condition.holds(view, batch, launch, steps)
        return found if found.any() else None

    def storing_fragment(self, batch: Batch[Any], launch: Launch[Any]) -> Mask | None:
        """The lanes of fragments that store the element; None if the launch stores it otherwise, or not."""
        if self.fragments is None or not isinstance(launch, PixelLaunch):
            return None
        stores = batch.by_lane(np.isin(batch.order, list(self.fragments(launch))))
        assert self.pixel is not None
        found: Mask = stores & (batch.i == self.pixel[0]) & (batch.j == self.pixel[1])
        return found

    def stored_by(self, wavefront: Any, launch: Launch[Any]) -> Mask | None:
        """The lanes that a wavefront's last instruction stored from where this looks; None if it looks at no store."""
        fragment = self.storing_fragment(wavefront.batch, launch)
        if fragment is not None:
            return fragment if wavefront.has_ended else np.zeros_like(fragment)
        area = None if self.stored is None else self.stored.area(launch)
        found: Mask | None = None if area is None else wavefront.storing(area)
        return found

    @property
    def compares_after(self) -> bool:
        """Whether it is after an instruction that did something."""
        return self.stored is not None or self.watched is not None

    def storing(
        self, view: View, batch: Batch[Any], launch: Launch[Any], steps: Integers, lanes: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.bool_]:
        """Of lanes [n] that store to its area, those for which wavefronts stop."""
        if self.condition is not None and lanes.any():
            return lanes & self.condition.holds(view, batch, launch, steps)
        return lanes


class _Known:
    """Values in the lanes of wavefronts, each as it was before the instruction that it executed last."""

    def __init__(self) -> None:
        self._steps = np.zeros(0, np.int64)
        self._words = np.zeros((0, 0, 0), np.uint32)

    def changed(
        self, words: npt.NDArray[np.uint32], batch: Batch[Any], steps: npt.NDArray[np.signedinteger]
    ) -> npt.NDArray[np.bool_]:
        """Lanes [n] in which words [channels, n] are others than before the last instruction."""
        now = words.reshape(len(words), -1, batch.lanes).swapaxes(0, 1)
        count = max(int(batch.order.max()) + 1, len(self._steps))
        if count > len(self._steps) or self._words.shape[1:] != now.shape[1:]:
            kept, self._words = self._words, np.zeros((count, *now.shape[1:]), np.uint32)
            old, self._steps = self._steps, np.full(count, _UNKNOWN)
            if kept.shape[1:] == now.shape[1:]:
                self._words[: len(kept)], self._steps[: len(old)] = kept, old
        is_known = self._steps[batch.order] == steps - 1
        differs = (self._words[batch.order] != now).any(axis=1) & is_known[:, None]
        self._words[batch.order], self._steps[batch.order] = now, steps
        found: npt.NDArray[np.bool_] = differs.ravel()
        return found


class Found(NamedTuple):
    """A stop that was found: order and step of the wavefront, the stop, and the lane for which it is one.

    `state` is the wavefront's there, if it is known.
    """

    order: int
    step: int
    stop: Stop
    lane: int
    state: Batch[Any] | None = None


@dataclass
class Scout(Tally):
    """Finds the first stop of wavefronts that run together, or with `latest` the last one."""

    steps: Steps = field(default_factory=lambda: Steps(0))
    stops: Sequence[Stop] = ()
    view: View | None = None
    unit: Callable[[int], int] = int
    launch: Launch[Any] | None = None
    latest: bool = False
    found: Found | None = None

    def stored(self, batch: Batch[Any], addresses: Integers, size: int, mask: Mask) -> None:
        """See `StoreObserver.stored`."""
        assert self.view is not None and self.launch is not None
        steps = batch.executed + batch.steps
        for stop in self.stops:
            area = None if stop.stored is None else stop.stored.area(self.launch)
            if area is not None:
                lanes = stop.storing(self.view, batch, self.launch, steps, area.lanes(addresses, size, mask))
                for store in stores_of(batch, lanes):
                    self._keep(Found(store.order, store.step, stop, store.lane))

    def add(self, launch: int, batch: Batch[Any]) -> None:
        """See `Tally.add`."""
        del launch
        assert self.view is not None and self.launch is not None
        # The instruction that is about to be executed is counted already.
        unit, steps = self.unit(batch.control.pc), batch.executed + batch.steps - 1
        for stop in self.stops:
            lanes = stop.lanes(self.view, batch, self.launch, unit, steps)
            if stop.fragments is not None:
                lanes = self._fragments(stop, batch, steps)
            if lanes is None:
                continue
            groups = np.flatnonzero(batch.any_lane(lanes))
            first = max if self.latest else min
            chosen = first(groups.tolist(), key=lambda group: (int(batch.order[group]), int(steps[group])))
            own = lanes.reshape(-1, batch.lanes)[chosen]
            step = int(steps[chosen]) if stop.fragments is None else AT_END
            self._keep(Found(int(batch.order[chosen]), step, stop, int(np.flatnonzero(own)[0])), batch, chosen)

    def _fragments(self, stop: Stop, batch: Batch[Any], steps: Integers) -> Mask | None:
        """Of wavefronts at their starts the lanes that will store the element of a stop."""
        assert self.launch is not None
        lanes = stop.storing_fragment(batch, self.launch) if (steps == 0).any() else None
        return lanes if lanes is not None and lanes.any() else None

    def _keep(self, hit: Found, batch: Batch[Any] | None = None, group: int = 0) -> None:
        first = max if self.latest else min
        if self.found is None or first(hit[:2], self.found[:2]) != self.found[:2]:
            self.found = hit
            if batch is not None and not self.latest and hit.step != AT_END:
                state = batch.take(np.array([group]))
                state.executed, state.steps = np.array([hit.step]), 0
                self.found = hit._replace(state=state)

"""Launches of programs that run on engine golden, caught as a debugger has them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from ctm.sim.debug.cancellation import Cancellation
from ctm.sim.debug.launches import Started, joined, started
from ctm.sim.debug.slicing.slicer import Slicer
from ctm.sim.debug.wavefront import Wavefront
from ctm.sim.golden.dpp.core import ArrayCore
from ctm.sim.golden.pe.domain import DomainWavefronts
from ctm.sim.golden.pe.state import State


@dataclass(frozen=True)
class ChosenLane:
    """A lane of a wavefront of a launch."""

    started: Started
    index: int
    lane: int

    def wavefront(self) -> Wavefront:
        """The wavefront at its start."""
        at = self.started
        arrays = (at.i[self.index], at.j[self.index], at.covered[self.index])
        return Wavefront(at.instruction_set, at.launch, int(at.order[self.index]), *arrays, Cancellation())

    def slicer(self) -> Slicer:
        """For the wavefront to its end."""
        return Slicer(self.started.instruction_set, self.started.launch, self.wavefront(), Cancellation())


def choose_lane(launch: Started, seed: int) -> ChosenLane:
    """Any covered lane of any wavefront."""
    random = np.random.default_rng(seed)
    index = int(random.integers(len(launch.order)))
    return ChosenLane(launch, index, int(random.choice(np.flatnonzero(launch.covered[index]))))


@contextmanager
def caught() -> Iterator[list[Started]]:
    """The launches that begin in a block."""
    found: list[tuple[Any, Any, list[DomainWavefronts]]] = []
    original: Callable[[ArrayCore[Any, Any], State], Any] = ArrayCore.start

    def start(core: ArrayCore[Any, Any], state: State) -> Any:
        run, groups = original(core, state), list[DomainWavefronts]()
        add = run.add

        def also_add(more: DomainWavefronts) -> None:
            groups.append(more)
            add(more)

        run.add = also_add
        found.append((core._instruction_set, core.launch(state), groups))
        return run

    launches: list[Started] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ArrayCore, "start", start)
        yield launches
    for number, (instruction_set, launch, groups) in enumerate(found):
        launches.append(started(number, instruction_set, launch, joined(groups, launch.lanes)))

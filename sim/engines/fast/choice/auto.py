"""Which of golden model and compiled code runs a program: whatever ends first, as far as one can tell."""

import math
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from ctm.sim.engines.fast.choice import estimate
from ctm.sim.engines.fast.choice.patience import OutOfPatienceError, Patience, may_run_again, may_see_each_other
from ctm.sim.fault import MachineError
from ctm.sim.golden.dpp.core import ArrayCore, ArrayRun
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.draw.stages import Stages
from ctm.sim.golden.draw.state import DrawState
from ctm.sim.golden.draw.state import Start as DrawStart
from ctm.sim.golden.pe.domain import DomainWavefronts
from ctm.sim.golden.pe.loader import Image
from ctm.sim.golden.pe.processor import BATCH_LANES
from ctm.sim.golden.pe.state import State

if TYPE_CHECKING:
    # They need a package that not everyone installs.
    from ctm.sim.engines.fast.batches import Batches
    from ctm.sim.engines.fast.core import FastCore
    from ctm.sim.engines.fast.run import FastRun

_FIRST = 64
"""Wavefronts that the golden model runs first."""
_GROWTH = 4
_DOUBT = 3
"""Factor by which wavefronts may exceed their time before they are given up. That of the first ones of a start, too:
they decode the program."""
_CALLS = 5_500
"""Pixels that take as long as the golden model's calls for a batch, however few it has; docs/performance.md."""
_REGISTER = 16
"""Words that the widest registers of hosts hold, 512 bits."""


class AutoCore:
    """Starts programs on `golden`, and lets those that take long go on as compiled code.

    `make` makes what compiles them; it is called when it is needed first.
    """

    def __init__(self, golden: ArrayCore[Any, Any], make: Callable[[], "FastCore"]) -> None:
        self.lanes = golden.lanes
        self._golden, self._make = golden, make
        self.fast: FastCore | None = None
        self.expected = 1
        """How many times the program that is started next will be started in all, this start included."""
        self._spent: dict[Image, float] = {}
        """Seconds that the golden model took for programs, but for wavefronts that were given up."""
        self._starts = Counter[Image]()
        """How many times the golden model began them."""
        self._compiled: set[Image] = set()

    def invalidate_program(self) -> None:
        """See `Core.invalidate_program`."""
        self._golden.invalidate_program()

    def stages(self, state: State, draws: DrawState, start: DrawStart) -> Stages:
        """The programs of a draw; see `Core.stages`."""
        return self._golden.stages(state, draws, start)

    def start(self, state: State) -> "AutoRun | FastRun | Batches":
        """Begin a program; see `Core.start`."""
        launch = self._golden.launch(state)
        patience = Patience()
        golden, image = self._golden.run(launch, patience), launch.program.image
        cost = estimate.seconds(image, max(1, self.lanes // _REGISTER))
        expected, self.expected = self.expected, max(1, self.expected - 1)
        spent, starts = self._spent.get(image, 0.0), self._starts[image]
        if image in self._compiled or spent > cost or (starts and spent / starts * expected > cost):
            return self._begin(launch, golden)
        self._starts[image] += 1
        # Where wavefronts may read what others write, in the golden engine's own batches.
        first = BATCH_LANES // self.lanes if may_see_each_other(launch) else _FIRST
        return AutoRun(
            golden, launch.domain.count(self.lanes), lambda: self._begin(launch, golden), cost,
            lambda seconds: self._spend(image, seconds), first, expected, patience if may_run_again(launch) else None,
        )  # fmt: skip

    def _begin(self, launch: Launch[Any], golden: ArrayRun[Any, Any]) -> "FastRun | Batches":
        if self.fast is None:
            self.fast = self._make()
        self._compiled.add(launch.program.image)
        return self.fast.begin(launch, golden)

    def _spend(self, image: Image, seconds: float) -> None:
        self._spent[image] = self._spent.get(image, 0.0) + seconds


class AutoRun:
    """Runs wavefronts on the golden model, measures them, and continues with compiled code where that pays off.

    `wavefronts` is their number, of which it runs `first` at first. `begin` compiles the program, in about `cost`
    seconds, and starts it. `spend` is called with the seconds of each call of the golden model that ended. The program
    will be started `expected` times in all. With `patience`, an observer of `golden`, it gives up wavefronts that take
    too long: compiled code runs these again. All others are run once.
    """

    def __init__(
        self,
        golden: ArrayRun[Any, Any],
        wavefronts: int,
        begin: Callable[[], "FastRun | Batches"],
        cost: float,
        spend: Callable[[float], None],
        first: int,
        expected: int,
        patience: Patience | None,
    ) -> None:
        self._golden, self._left, self._begin, self._cost, self._spend = golden, wavefronts, begin, cost, spend
        self._next, self._wavefronts, self._expected, self._patience = first, wavefronts, expected, patience
        self._doubt = _DOUBT
        self._other: FastRun | Batches | None = None

    def add(self, wavefronts: DomainWavefronts) -> None:
        """Run wavefronts; see `Run.add`."""
        at, count = 0, wavefronts.order.size
        while at < count:
            if self._other is not None:
                self._other.add(wavefronts.slice(at, count))
                return
            end = min(at + self._next, count)
            self._measure(wavefronts.slice(at, end))
            at = end

    def finish(self) -> MachineError | None:
        """Wait for all; see `Run.finish`."""
        return (self._other or self._golden).finish()

    def _measure(self, wavefronts: DomainWavefronts) -> None:
        """Run wavefronts on the golden model, and decide what runs the others."""
        count, lanes = wavefronts.order.size, wavefronts.lanes
        later = (self._expected - 1) * _work(self._wavefronts, lanes)
        # Seconds for these wavefronts at which the remaining ones take as long as compiling does, times all their work.
        equal = self._cost * _work(count, lanes)
        begun = time.perf_counter()
        try:
            with self._allowed(_DOUBT * equal / (_work(self._left, lanes) + later)):
                self._golden.add(wavefronts)
        except OutOfPatienceError:
            self._other = self._begin()
            self._other.add(wavefronts)
            return
        taken = time.perf_counter() - begun
        self._spend(taken)
        self._left -= count
        self._next = min(self._next * _GROWTH, max(1, BATCH_LANES // lanes))
        if self._left and taken * (_work(self._left, lanes) + later) > self._doubt * equal:
            self._other = self._begin()
        self._doubt = 1

    def _allowed(self, seconds: float) -> AbstractContextManager[None]:
        return nullcontext() if self._patience is None else self._patience.within(seconds)


def _work(wavefronts: int, lanes: int) -> int:
    """What wavefronts cost the golden model, in pixels that would take as long."""
    pixels = wavefronts * lanes
    return pixels + _CALLS * math.ceil(pixels / BATCH_LANES)

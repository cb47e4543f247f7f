"""A session: a job under a debugger's hands, on the golden model.

Wavefronts run one after the other, in the order of the domain walk, launch after launch: that is the order in which the
golden model's results are defined. Up to where one wants to look they run together, as fast as ever.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ctm.rtl.config import MachineConfig
from ctm.sim.debug.code import Code
from ctm.sim.debug.error import DebugError, unknown
from ctm.sim.debug.event import Event
from ctm.sim.debug.given_engine import Work, lines_of
from ctm.sim.debug.hardware.machine import Hardware
from ctm.sim.debug.hardware.wavefront import AnyWavefront, HardwareWavefront
from ctm.sim.debug.images.elements import Store
from ctm.sim.debug.launches import Started
from ctm.sim.debug.numbers import checked_lane, checked_word
from ctm.sim.debug.stopping.expressions import Expression
from ctm.sim.debug.stopping.stops import Found, Scout, Stop
from ctm.sim.debug.views import VIEWS, View
from ctm.sim.debug.walk import HAS_ENDED, Position, Walk
from ctm.sim.elf.lines import Line
from ctm.sim.jobs.execution import Run
from ctm.sim.runtime.device import MOST_WATCHDOG

ENGINES = ("golden", "rtl")
"""Where a job may be looked at."""


class Session:
    """A job that stops; it begins in front of the first instruction of the first wavefront.

    Engine ``golden`` is the golden model; with ``rtl`` wavefronts are what the hardware did, which is recorded, so that
    nothing can be set. With `batches` threads of draws are in the hardware's wavefronts on engine ``golden``, too. With
    `hazards` it stops in front of reads of what hardware need not have delivered. `cancellation` ends what it does from
    another thread.

    DebugError: it cannot be debugged. MachineError: it failed before its first wavefront.
    """

    def __init__(
        self, job: Work, config: MachineConfig, *, engine: str = "golden", watchdog: int = 0,
        hazards: bool = False, batches: bool = False,
    ) -> None:  # fmt: skip
        if engine not in ENGINES:
            raise unknown("engine", engine, ENGINES)
        if not 0 <= watchdog <= MOST_WATCHDOG:
            raise DebugError(f"watchdog: 1..{MOST_WATCHDOG} instructions, or 0 for no limit, not {watchdog}")
        hardware = Hardware(job, config, watchdog) if engine == "rtl" else None
        self._walk = Walk(job, config, watchdog, hazards=hazards, hardware=hardware, batches=batches)
        self.cancellation = self._walk.cancellation
        self.view: View = VIEWS[config.array.instruction_set]
        self.stops: list[Stop] = []
        self.lines = lines_of(job)
        self._numbers = 0
        self._looked_at: tuple[AnyWavefront, int] | None = None
        self._codes: dict[int, Code] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the job."""
        self._walk.close()

    # Where it stands.

    @property
    def started(self) -> Started:
        """The launch; DebugError: the job has ended."""
        if self._walk.started is None:
            raise DebugError(HAS_ENDED)
        return self._walk.started

    @property
    def wavefront(self) -> AnyWavefront:
        """The wavefront; DebugError: the job has ended."""
        if self._walk.wavefront is None:
            raise DebugError(HAS_ENDED)
        return self._walk.wavefront

    @property
    def position(self) -> Position:
        """Where it stands; DebugError: the job has ended."""
        return self._walk.position

    @property
    def result(self) -> Run | None:
        """What the job left, when it has ended."""
        return self._walk.result

    @property
    def code(self) -> Code:
        """That of the program that runs."""
        base = self.started.launch.executable
        if base not in self._codes:
            self._codes[base] = Code(*self._walk.program(base))
        return self._codes[base]

    @property
    def unit(self) -> int:
        """The unit of code of the next instruction; of one that failed, its own."""
        return int(self.started.instruction_set.unit(self.wavefront.batch.control.pc))

    @property
    def line(self) -> Line | None:
        """Its source line, if that is known."""
        return self.code.line(self.unit)

    @property
    def lane(self) -> int:
        """The lane that is looked at: the first covered one, if no other was chosen."""
        wavefront = self.wavefront
        if self._looked_at is not None and self._looked_at[0] is wavefront:
            return self._looked_at[1]
        return int(np.flatnonzero(wavefront.batch.covered)[0])

    @lane.setter
    def lane(self, lane: int) -> None:
        self._looked_at = self.wavefront, checked_lane(lane, self.wavefront.batch.size)

    # Going on.

    def restart(self) -> None:
        """Begin the job again; breakpoints stay."""
        self._walk.restart(0)

    def step(self, count: int = 1) -> Event:
        """Execute instructions; after a wavefront's end the next one begins."""
        for _ in range(count):
            event = self._step()
            if event.reason != "step":
                return event
        return Event("step")

    def step_line(self) -> Event:
        """Execute instructions until another source line, or the wavefront's end."""
        line, wavefront = self.line, self.wavefront
        while True:
            event = self._step()
            if event.reason != "step" or self._walk.wavefront is not wavefront:
                return event
            if self.line not in (line, None):
                return event

    def finish(self) -> Event:
        """Execute the wavefront to its end, or to a breakpoint in it."""
        return self._through_wavefront()

    def go_on(self) -> Event:
        """Go on to the next breakpoint, to a fault, or to the job's end."""
        event = self._through_wavefront()
        if event.reason != "end":
            return event
        first = self._walk.index + 1
        while self._walk.started is not None:
            halt = self._walk.run_to_stop(first, self._scout)
            if halt is not None:
                return self._to_stop(halt.found)
            self._walk.next_launch()
            first = 0
        return Event("finished")

    def select(self, i: int, j: int) -> Event:
        """Go to the start of the wavefront of the pixel (i, j), and look at its lane; DebugError: there is none."""
        index = self.started.holds(i, j)
        if index is None:
            raise DebugError(self.started.without(i, j))
        if index != self._walk.index:
            self.go_to(Position(self.started.number, index, 0))
        batch = self.wavefront.batch
        self.lane = int(np.flatnonzero((batch.i == i) & (batch.j == j))[0])
        return Event("step")

    # Going back.

    def back(self, count: int = 1) -> Event:
        """Return to where `count` instructions of this wavefront had not been executed; its start at most."""
        self.wavefront.back_to(max(0, self.wavefront.step - max(0, count)))
        return Event("step")

    def back_line(self) -> Event:
        """Return to the source line before this one, or the wavefront's start."""
        line = self.line
        while self.wavefront.step:
            self.wavefront.back_to(self.wavefront.step - 1)
            if self.line not in (line, None):
                break
        return Event("step")

    def back_on(self) -> Event:
        """Return to the last breakpoint before here in this launch, or to the launch's start."""
        here = self.position
        own = self._last_in_wavefront(here.step)
        if own is not None:
            step, found = own
            self.wavefront.back_to(step)
            return self._stopped(*found)
        if here.wavefront:
            self._walk.restart(here.launch)
            scout = self._scout(latest=True)
            self._walk.run(0, here.wavefront, scout, scout)
            if scout.found is not None:
                self.go_to(Position(here.launch, self.started.index(scout.found.order), scout.found.step))
                while not self._has_come(scout.found):
                    self.wavefront.advance()
                return self._stopped(scout.found.stop, scout.found.lane)
        self.go_to(Position(here.launch, 0, 0))
        return Event("step")

    def go_to(self, position: Position) -> None:
        """Go to any position, forward or back; what was set by hand in other wavefronts is lost when going back.

        DebugError: there is no such position; or a wavefront in front of it fails, and that is where it is then.
        """
        self._walk.go_to(position)

    def go_to_cycle(self, cycle: int) -> Event:
        """Go after the last instruction that was done at the end of a cycle; DebugError: the engine has no cycles."""
        wavefront = self.wavefront
        if not isinstance(wavefront, HardwareWavefront):
            raise DebugError("the golden model has no cycles; engine rtl has")
        self._walk.go_to(self.position._replace(step=wavefront.step_at(cycle)))
        return Event("end" if wavefront.has_ended else "step")

    def go_afresh(self, position: Position) -> None:
        """Go to a position with the job begun again, whatever state it was in; errors as `go_to`."""
        self._walk.go_afresh(position)

    # Breakpoints.

    def add_stop(self, stop: Stop) -> Stop:
        """Keep a breakpoint, with a number of its own."""
        self._numbers += 1
        self.stops.append(replace(stop, number=self._numbers))
        return self.stops[-1]

    def remove_stop(self, number: int) -> None:
        """Delete a breakpoint; DebugError: there is none of this number."""
        kept = [stop for stop in self.stops if stop.number != number]
        if len(kept) == len(self.stops):
            raise DebugError(f"there is no breakpoint {number}")
        self.stops = kept

    @property
    def hazards(self) -> list[Stop]:
        """Where the hazards of this launch are, if they are watched."""
        return self._walk.hazard_stops if self._walk.started is not None else []

    # Values.

    def value(self, text: str) -> Any:
        """What an expression is, see `Expression.value`."""
        return Expression(text).value(self.view, self.wavefront.batch, self.started.launch)

    def set(self, name: str, channel: str, word: int, lanes: Sequence[int] | None = None) -> None:
        """Set a channel of a register to 32 bits, in some lanes or in the one that is looked at; or DebugError."""
        self._check_settable()
        batch = self.wavefront.batch
        mask = np.zeros(batch.size, bool)
        mask[[checked_lane(lane, batch.size) for lane in lanes] if lanes is not None else self.lane] = True
        self.view.set(batch, name, channel, mask, checked_word(word))
        self.wavefront.edit()

    def set_memory(self, store: Store) -> None:
        """Set bytes of memory; going back before here restores them."""
        self._check_settable()
        self.wavefront.store(store)

    # Inside.

    def _check_settable(self) -> None:
        if self.wavefront.has_ended:
            raise DebugError("the wavefront has ended: set it in front of the next one's first instruction")

    def _step(self) -> Event:
        """One instruction, or from the end of a wavefront to the start of the next one."""
        wavefront = self.wavefront
        if wavefront.error is not None:
            raise DebugError(f"the wavefront failed: {wavefront.error}; `reverse-stepi` looks at what led to it")
        if wavefront.has_ended:
            return self._next_wavefront()
        wavefront.advance()
        if wavefront.error is not None:
            return Event("fault", error=wavefront.error)
        return Event("end" if wavefront.has_ended else "step")

    def _next_wavefront(self) -> Event:
        if self._walk.index + 1 < len(self.started.order):
            self._walk.enter(self._walk.index + 1)
        else:
            self._walk.next_launch()
        return Event("finished" if self._walk.started is None else "step")

    def _through_wavefront(self) -> Event:
        """To the wavefront's end, a fault or a breakpoint in it after this instruction."""
        if self.wavefront.has_ended:
            return Event("end")
        for stop in self.stops:
            # What is watched is known from here on.
            self._stopping(stop)
        while True:
            event = self._step()
            if event.reason not in ("step", "end"):
                return event
            stopped = self._stop_here()
            if stopped.stop is not None or event.reason == "end":
                return stopped if stopped.stop is not None else event

    def _stop_here(self) -> Event:
        """The breakpoint in front of the next instruction, if there is one."""
        found = self._found_here()
        return Event("step") if found is None else self._stopped(*found)

    def _found_here(self) -> tuple[Stop, int] | None:
        """The same with the lane for which it is one; nothing is counted."""
        # All of them, because those that watch something look at it.
        is_there = not self.wavefront.has_ended
        stops = [stop for stop in self._watched() if is_there or stop.stored is not None]
        found = [(stop, lanes) for stop in stops if (lanes := self._stopping(stop)) is not None]
        return (found[0][0], int(np.flatnonzero(found[0][1])[0])) if found else None

    def _stopped(self, stop: Stop, lane: int) -> Event:
        """A wavefront stands at a breakpoint for a lane, which is looked at then."""
        self.lane = lane
        stop.hits += 1
        if stop.is_temporary:
            self.stops.remove(stop)
        return Event("breakpoint" if stop.order is None else "hazard", stop=stop)

    def _has_stored(self, stop: Stop) -> bool:
        """Whether a stop after a store is after it: outputs are stored when the last instruction was executed."""
        lanes = stop.stored_by(self.wavefront, self.started.launch)
        return lanes is None or bool(lanes.any())

    def _stopping(self, stop: Stop) -> npt.NDArray[np.bool_] | None:
        batch, launch = self.wavefront.batch, self.started.launch
        if stop.stored is None:
            return stop.lanes(self.view, batch, launch, self.unit, batch.settle())
        storing = stop.stored_by(self.wavefront, launch)
        lanes = None if storing is None else stop.storing(self.view, batch, launch, batch.settle(), storing)
        return lanes if lanes is not None and lanes.any() else None

    def _to_stop(self, found: Found | None) -> Event:
        """Step a wavefront to a breakpoint that was found, or to its fault."""
        if found is not None and found.state is not None:
            self.wavefront.leap(found.state)
        while found is None or not self._has_come(found):
            self.wavefront.advance()
            if self.wavefront.error is not None:
                return Event("fault", error=self.wavefront.error)
        return self._stopped(found.stop, found.lane)

    def _has_come(self, found: Found) -> bool:
        """Whether the wavefront stands at a stop."""
        return (self.wavefront.is_over or self.wavefront.step >= found.step) and self._has_stored(found.stop)

    def _scout(self, *, latest: bool = False) -> Scout:
        started, stops = self.started, self._watched()
        unit = started.instruction_set.unit
        return Scout(stops=stops, view=self.view, unit=unit, launch=started.launch, latest=latest)

    def _watched(self) -> list[Stop]:
        """What is looked for; breakpoints in a program that had not run are in this one, if it is that."""
        for stop in self.stops:
            stop.bind(self.started.launch.executable)
        return [*self.stops, *self.hazards]

    def _last_in_wavefront(self, end: int) -> tuple[int, tuple[Stop, int]] | None:
        """The step, breakpoint and lane of the last one of this wavefront before a step, on the path that was taken.

        It leaves the wavefront somewhere after that.
        """
        # Steps after what was set by hand follow from it, so they are searched first.
        is_edit = False
        for begin in (*reversed([edit for edit in self.wavefront.edits if edit < end]), 0):
            self.wavefront.back_to(begin)
            last = None
            while self.wavefront.step < end:
                here = self._found_here()
                if here is not None:
                    last = self.wavefront.step, here
                self.wavefront.advance()
            # Where something was set, stops that compare the state after compare what came before.
            here = self._found_here() if is_edit else None
            if here is not None and here[0].compares_after:
                last = end, here
            if last is not None:
                return last
            end, is_edit = begin, True
        return None

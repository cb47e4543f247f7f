"""The array as the command processor sees it, on the host's own processors."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from ctm.sim.engines.fast.batches import Batches
from ctm.sim.engines.fast.compiler import Code, code
from ctm.sim.engines.fast.host import Host, processors
from ctm.sim.engines.fast.program import FallBackError, Prepared
from ctm.sim.engines.fast.run import FastRun
from ctm.sim.engines.fast.starts import Start, Starts
from ctm.sim.engines.fast.threads.workers import Workers
from ctm.sim.golden.dpp.core import ArrayCore, ArrayRun
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.draw.stages import Stages
from ctm.sim.golden.draw.state import DrawState
from ctm.sim.golden.draw.state import Start as DrawStart
from ctm.sim.golden.pe.state import State

Prepare = Callable[[Launch[Any], Host], Prepared]
"""Makes what is compiled of a launch."""


@dataclass(frozen=True)
class Compiling:
    """What compiles and runs code: the host, its threads, and a callback for programs on the golden model."""

    host: Host
    workers: Workers
    code: Callable[[Prepared], Code]
    remark: Callable[[str], None]


MakeStages = Callable[[ArrayCore[Any, Any], State, DrawState, DrawStart, Compiling], Stages]
"""Makes the programs of a draw, as far as they can be compiled."""


class FastCore:
    """Starts programs as compiled code; those that cannot be, on `golden`, whose counters count all.

    `remark` is told why a program runs on the golden model, once for each reason. `stages` makes the programs of
    draws, where there are draws.
    """

    def __init__(
        self,
        golden: ArrayCore[Any, Any],
        prepare: Prepare,
        starts: Starts,
        *,
        host: Host,
        threads: int | None,
        remark: Callable[[str], None],
        stages: "MakeStages | None" = None,
    ) -> None:
        self.lanes = golden.lanes
        self._golden, self._prepare, self._host, self._remark = golden, prepare, host, remark
        self._starts, self._make_stages = starts, stages
        self._workers = Workers(threads or processors())
        self._codes: dict[Hashable, Code] = {}
        self.has_run = False
        """Whether a program ran compiled."""

    def invalidate_program(self) -> None:
        """See `Core.invalidate_program`."""
        self._starts.invalidate_program()

    def start(self, state: State) -> "FastRun | Batches":
        """Begin a program; see `Core.start`."""
        start = self._starts.known(state)
        if start is None:
            launch = self._starts.launch(state)
            start = self._start(launch)
            if start is None:
                return Batches(self._golden.run(launch))
            self._starts.remember(state, start)
        return FastRun(start, self._golden.run(start.launch), self._workers)

    def stages(self, state: State, draws: DrawState, start: DrawStart) -> Stages:
        """The programs of a draw; see `Core.stages`."""
        assert self._make_stages is not None
        self._starts.look_at_image(state)
        self.has_run = True
        compiling = Compiling(self._host, self._workers, self._code, self._remark)
        return self._make_stages(self._golden, state, draws, start, compiling)

    def begin(self, launch: Launch[Any], fallback: ArrayRun[Any, Any]) -> "FastRun | Batches":
        """Begin a program that was launched; `fallback` is it on the golden model, which may have run wavefronts."""
        start = self._start(launch)
        return Batches(fallback) if start is None else FastRun(start, fallback, self._workers)

    def stop(self) -> None:
        """End what runs, as soon as it can; what it did is lost."""
        self._workers.stop()

    def _start(self, launch: Launch[Any]) -> Start | None:
        """What runs a launch, None if that is the golden model."""
        try:
            prepared = self._prepare(launch, self._host)
        except FallBackError as reason:
            self._remark(str(reason))
            return None
        code = self._code(prepared)
        self.has_run = True
        return Start(launch=launch, prepared=prepared, code=code)

    def _code(self, prepared: Prepared) -> Code:
        if prepared.key not in self._codes:
            self._codes[prepared.key] = code(prepared.text, prepared.key, self._host)
        return self._codes[prepared.key]

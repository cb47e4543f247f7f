"""Which engines there are."""

from typing import TextIO

from ctm.rtl.config import MachineConfig
from ctm.sim.engines.cxxrtl import CxxrtlEngine
from ctm.sim.engines.cycle_accurate import CycleAccurateEngine
from ctm.sim.engines.engine import Engine, Progress
from ctm.sim.engines.fast.engine import AutoEngine, FastEngine
from ctm.sim.engines.golden import GoldenEngine
from ctm.sim.engines.interpreted import AmaranthEngine
from ctm.sim.engines.rtl import RtlEngine

ENGINES: dict[str, type[GoldenEngine | FastEngine | CycleAccurateEngine]] = {
    engine.name: engine for engine in (AutoEngine, GoldenEngine, FastEngine, RtlEngine, CxxrtlEngine, AmaranthEngine)
}


def make_engine(
    name: str,
    config: MachineConfig,
    *,
    watchdog: int = 0,
    progress: Progress | None = None,
    hazards: bool = False,
    max_cycles: int | None = None,
    trace: TextIO | None = None,
) -> Engine:
    """The engine called `name`.

    With `hazards` it reports reads of what was not promised, after `max_cycles` it ends, and what its groups do it
    writes to `trace`.

    Raises
    ------
    ValueError
        There is none; the message lists those that exist.
    """
    if name not in ENGINES:
        raise ValueError(f"there is no engine '{name}'; there is: {', '.join(ENGINES)}")
    return ENGINES[name](
        config, watchdog=watchdog, progress=progress, hazards=hazards, max_cycles=max_cycles, trace=trace
    )

"""Which engines there are."""

from typing import Any, TextIO

from ctm.rtl.config import MachineConfig
from ctm.sim.engines.cycle_accurate import CycleAccurateEngine
from ctm.sim.engines.engine import Engine, Progress
from ctm.sim.engines.fast.engine import AutoEngine, FastEngine
from ctm.sim.engines.golden import GoldenEngine
from ctm.sim.engines.interpreted import AmaranthEngine
from ctm.sim.engines.rtl import RtlEngine
from ctm.sim.engines.seen import Watching
from ctm.sim.engines.serial.engine import SerialEngine
from ctm.sim.engines.watched import WatchedEngine

ENGINES: dict[str, type[GoldenEngine | FastEngine | CycleAccurateEngine]] = {
    engine.name: engine for engine in (AutoEngine, GoldenEngine, FastEngine, RtlEngine, AmaranthEngine, SerialEngine)
}

WATCHED: dict[str, type[GoldenEngine | WatchedEngine]] = {
    GoldenEngine.name: GoldenEngine,
    WatchedEngine.name: WatchedEngine,
}
"""Engines of which can be seen what each instruction does."""

REMOVED = {"cxxrtl": "'rtl' runs the same hardware four times as fast, 'amaranth' is the second opinion"}
"""Engines that there were, and what takes their place."""


def make_engine(
    name: str,
    config: MachineConfig,
    *,
    watchdog: int = 0,
    progress: Progress | None = None,
    hazards: bool = False,
    max_cycles: int | None = None,
    trace: TextIO | None = None,
    port: str | None = None,
    watch: Watching | None = None,
) -> Engine:
    """The engine called `name`; `port` is that of a board, for the engine `serial`.

    With `hazards` it reports reads of what was not promised, after `max_cycles` it ends, and what its groups do it
    writes to `trace`. With `watch` it is one of `WATCHED`, and has `seen`.

    Raises
    ------
    ValueError
        There is none; the message lists those that exist. Or a port is missing or not wanted.
    BoardError
        The board cannot be reached.
    """
    if name in REMOVED:
        raise ValueError(f"engine '{name}' was removed: {REMOVED[name]}")
    if name not in ENGINES:
        raise ValueError(f"there is no engine '{name}'; there is: {', '.join(ENGINES)}")
    if watch is not None and name not in WATCHED:
        raise ValueError(f"engine '{name}' cannot be watched; {' and '.join(map(repr, WATCHED))} can")
    check_port(name, port)
    # Only one engine has a port, and two can be watched.
    place: dict[str, Any] = {} if port is None else {"port": port}
    if watch is not None:
        place["watch"] = watch
    return (ENGINES if watch is None else WATCHED)[name](
        config, watchdog=watchdog, progress=progress, hazards=hazards, max_cycles=max_cycles, trace=trace, **place
    )


def check_port(name: str, port: str | None) -> None:
    """Refuse an engine without the port that it needs, or with one that it has no use for: `ValueError`."""
    if name == SerialEngine.name and port is None:
        raise ValueError(f"engine '{name}' needs the port of a board, as /dev/ttyUSB0")
    if name != SerialEngine.name and port is not None:
        raise ValueError(f"engine '{name}' has no port; engine '{SerialEngine.name}' has")

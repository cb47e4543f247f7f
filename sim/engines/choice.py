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
from ctm.sim.engines.watching.engine import WatchedEngine
from ctm.sim.engines.waves.engine import WavesEngine
from ctm.sim.engines.waves.interpreted import AmaranthWavesEngine
from ctm.sim.engines.waves.window import Waves

ENGINES: dict[str, type[GoldenEngine | FastEngine | CycleAccurateEngine]] = {
    engine.name: engine for engine in (AutoEngine, GoldenEngine, FastEngine, RtlEngine, AmaranthEngine, SerialEngine)
}

WATCHED: dict[str, type[GoldenEngine | WatchedEngine]] = {
    GoldenEngine.name: GoldenEngine,
    WatchedEngine.name: WatchedEngine,
}
"""Engines of which can be seen what each instruction does."""

TRACED: dict[str, type[WavesEngine | AmaranthWavesEngine]] = {
    WavesEngine.name: WavesEngine,
    AmaranthWavesEngine.name: AmaranthWavesEngine,
}
"""Engines that write waves."""

REMOVED = {"cxxrtl": "'rtl' runs the same hardware four times as fast, 'amaranth' is the second opinion"}
"""Former engines, and their replacements."""


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

    With `hazards` it reports reads of what was not promised, after `max_cycles` it ends, and what its wavefronts do it
    writes to `trace`. With `watch` it is one of `WATCHED`, and has `seen`; or, of waves, one of `TRACED`.

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
    engine = engine_class(name, watch)
    check_port(name, port)
    # Only one engine has a port, and two can be watched.
    where: dict[str, Any] = {} if port is None else {"port": port}
    if watch is not None:
        where["watch"] = watch
    made: Engine = engine(
        config, watchdog=watchdog, progress=progress, hazards=hazards, max_cycles=max_cycles, trace=trace, **where
    )
    return made


def engine_class(name: str, watch: Watching | None = None) -> type[Any]:
    """The engine called `name`, which there is, that keeps what is to be watched; ValueError: none does."""
    if watch is None:
        return ENGINES[name]
    does, able = ("writes no waves", TRACED) if isinstance(watch, Waves) else ("cannot be watched", WATCHED)
    if name not in able:
        more = " and ".join(map(repr, able))
        raise ValueError(f"engine '{name}' {does}; {more} {'do' if isinstance(watch, Waves) else 'can'}")
    found: type[Any] = able[name]
    return found


def check_port(name: str, port: str | None) -> None:
    """Reject an engine without the port that it needs, or with one that it has no use for: `ValueError`."""
    if name == SerialEngine.name and port is None:
        raise ValueError(f"engine '{name}' needs the port of a board, as /dev/ttyUSB0")
    if name != SerialEngine.name and port is not None:
        raise ValueError(f"engine '{name}' has no port; engine '{SerialEngine.name}' has")

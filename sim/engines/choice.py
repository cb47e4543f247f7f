"""Which engines there are."""

from rtl.config import MachineConfig
from sim.engines.engine import Engine, Progress
from sim.engines.golden import GoldenEngine

ENGINES = {"golden": GoldenEngine}


def make_engine(
    name: str,
    config: MachineConfig,
    *,
    watchdog: int = 0,
    progress: Progress | None = None,
    hazards: bool = False,
) -> Engine:
    """The engine called `name`; with `hazards` it reports reads of what was not promised.

    Raises
    ------
    ValueError
        There is none; the message lists those that exist.
    """
    if name not in ENGINES:
        raise ValueError(f"there is no engine '{name}'; there is: {', '.join(ENGINES)}")
    return ENGINES[name](config, watchdog=watchdog, progress=progress, hazards=hazards)

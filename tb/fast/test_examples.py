"""Compiled shaders and the examples' jobs leave the golden model's bits, whatever the size of groups and vectors."""

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest

from ctm.sim.engines.fast.host import Host
from ctm.sim.jobs.execution import Execution
from ctm.sim.jobs.loading import load_job
from ctm.sim.runtime.device import WATCHDOG
from ctm.tb.fast.comparison import machine
from ctm.tb.fast.hosts import HOSTS
from ctm.tb.fast.pair import Pair
from ctm.tb.r5xx.shaders import NAMES, Shader, run
from ctm.tb.system.example_jobs import JOBS, SHORT

MACHINES = list(product(HOSTS, (4, 8, 16)))
"""Hosts, and pixels of a wavefront."""


def on_machines(names: list[str], ordinary: Sequence[str]) -> pytest.MarkDecorator:
    """Every name on every machine; ordinarily some names, on a machine that changes from name to name."""
    chosen = {name: number % len(MACHINES) for number, name in enumerate(ordinary)}
    return pytest.mark.parametrize(
        ("name", "host", "group"),
        [
            pytest.param(
                name, HOSTS[host], group,
                marks=() if chosen.get(name) == number else pytest.mark.long, id=f"{name}, {host}, groups of {group}",
            )
            for name in names
            for number, (host, group) in enumerate(MACHINES)
        ],
    )  # fmt: skip


@on_machines(NAMES, NAMES[::2])
def test_compiled_shaders(name: str, host: Host, group: int, pair: Pair) -> None:
    shader = Shader.load(name)
    pair.host = host
    width, height = shader.grid
    for domain in ((0, 0, width - 1, height - 1), (1, 1, width - 2, height - 2), (3, 2, 3, 2)):
        for engine in ("golden", "fast"):
            run(shader, domain=domain, lanes=group, engine=engine)
        pair.check()


PATHS: dict[str, Path] = {job.stem: job for job in JOBS}


@on_machines(list(PATHS), SHORT)
def test_examples(name: str, host: Host, group: int, pair: Pair) -> None:
    loaded = load_job(PATHS[name])
    pair.host = host
    (kind,) = set(loaded.kinds)
    for engine in ("golden", "fast"):
        Execution(loaded, engine=engine, config=machine(group, kind), watchdog=WATCHDOG).run()
    pair.check()

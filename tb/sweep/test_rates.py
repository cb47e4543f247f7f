"""What a point costs beside its run, and what more workers give."""

import resource
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from distributed import Client, LocalCluster

from ctm.examples.catalogue import job
from ctm.sim.sweep.cluster.handed import Batch, Handed, WorkItem, do_at_workers
from ctm.sim.sweep.cluster.workers import local_workers, processors
from ctm.sim.sweep.here import do_here
from ctm.sim.sweep.measuring import Plan, Record
from ctm.sim.sweep.points import load_points
from ctm.sim.sweep.sweep import Progress
from ctm.tb.sweep.sweeps import sweep_in

MOST_OVERHEAD = 0.3
LEAST_RATIO, TRIES = 1.8, 4
STUBS, STUB_SECONDS, STUB_WORKERS = 10_000, 0.3, 64
LEAST_SHARE, MOST_BYTES = 0.8, 500_000_000


def plan_of(folder: Path, latencies: int, size: int) -> Plan:
    """Points on the golden model, as many as latencies."""
    text = f"""
engines = ["golden"]
[[configurations]]
preset = "tiny"
settings = {{memory.latency = {{first = 1, last = {latencies}, step = 1}}}}
[[jobs]]
file = "{job("mandelbrot")}"
sizes = [{size}]
"""
    return Progress(load_points(sweep_in(folder, text)), folder / "t.parquet").plan()


def overhead(records: Callable[[Plan], list[Record]], plan: Plan) -> float:
    """Seconds of a point that are not its run's."""
    start = time.perf_counter()
    found = records(plan)
    seconds = time.perf_counter() - start
    assert len(found) == len(plan.tasks) and {record["status"] for record in found} == {"ok"}
    return (seconds - sum(record["host_seconds"] for record in found)) / len(found)


@pytest.mark.slow
def test_a_point_costs_little_beside_its_run(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, 20, 32)
    assert overhead(lambda plan: list(do_here(plan, print)), plan) < MOST_OVERHEAD
    with local_workers(1) as client:
        work = partial(do_at_workers, client=client, name="the scheduler", sources="")
        assert overhead(lambda plan: list(work(plan)), plan) < MOST_OVERHEAD


def points_a_second(workers: int, plan: Plan) -> float:
    """Of workers that have begun: between the first and the last point."""
    with local_workers(workers) as client:
        ends = []
        for _ in do_at_workers(plan, client, name="the scheduler", sources=""):
            ends.append(time.perf_counter())
    # As many come first as there are workers.
    return (len(ends) - workers) / (ends[-1] - ends[workers - 1])


@pytest.mark.long
@pytest.mark.skipif(processors() < 2, reason="there is one processor")
def test_two_workers_do_nearly_twice_the_points_of_one(tmp_path: Path) -> None:
    """The processors may have other things to do meanwhile: one of some tries has to show it."""
    plan = plan_of(tmp_path, 40, 256)
    ratios: list[float] = []
    while max(ratios, default=0.0) < LEAST_RATIO:
        assert len(ratios) < TRIES, ratios
        ratios.append(points_a_second(2, plan) / points_a_second(1, plan))


def nap(number: int) -> Record:
    """A point that takes its time and does nothing."""
    time.sleep(STUB_SECONDS)
    return {"number": number}


@pytest.mark.long
def test_many_workers_are_kept_busy_and_the_scheduler_does_not_grow() -> None:
    """Scheduler, workers and client are one process here, whose memory is all of theirs."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    options: dict[str, Any] = {"processes": False, "dashboard_address": None, "memory_limit": 0}
    with LocalCluster(n_workers=STUB_WORKERS, threads_per_worker=1, **options) as cluster, Client(cluster) as client:
        handed = Handed(client, "the scheduler")

        def given(number: int, _: object) -> Any:
            return handed.submit(f"nap-{number}", nap, number)

        items = deque(WorkItem(partial(given, number), lambda reason: {"why": reason}) for number in range(STUBS))
        start = time.perf_counter()
        found = [record["number"] for record in handed.records([Batch(items=items)])]
        seconds = time.perf_counter() - start
    assert sorted(found) == list(range(STUBS))
    share = STUBS * STUB_SECONDS / STUB_WORKERS / seconds
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
    print(f"{share:.1%} of ideal, {grown / 1e6:.0f} MB more, {threading.active_count()} threads")
    assert share >= LEAST_SHARE and grown < MOST_BYTES

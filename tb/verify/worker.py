"""What a worker is asked to do: compile a model, run seeds, make a failing case small.

Models come as bytes, and are put into the worker's cache under their own name: that is a hash of all that they are made
of, which client and worker have in common.
"""

import os
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

from ctm.sim.compiled.tools.cache import cache_folder
from ctm.sim.sweep.cluster.remote import Model, OtherVersionError
from ctm.sim.sweep.content import Parcel
from ctm.tb.verify.campaign import Case, Found, tried
from ctm.tb.verify.catalogue import CAMPAIGNS
from ctm.tb.verify.reduction import reduce
from ctm.tb.verify.sources import sources

Record = dict[str, Any]
"""What a task gives; `task` is "batch" or "reduction"."""
FAILURES_OF_A_BATCH = 3
"""Failing seeds after which a batch ends."""


def compile_model(campaign: str, expected: str) -> Model:
    """The model of a campaign, from this worker's cache or made now; errors as `run_batch`."""
    _check(expected)
    path = CAMPAIGNS[campaign].model()
    assert path is not None
    return Model(path, Parcel.of(path.read_bytes()))


def run_batch(campaign: str, seeds: Sequence[int], model: Model | None, expected: str) -> Record:
    """Run seeds, up to the third that fails.

    `expected` are the client's sources, empty where worker and client have the same files.

    Raises
    ------
    OtherVersionError
        This worker's are others.
    SweepError
        The model arrived damaged.
    """
    _check(expected)
    if model is not None:
        install(model)
    start, done, failures = time.monotonic(), 0, []
    events: Counter[str] = Counter()
    chosen = CAMPAIGNS[campaign]
    for seed in seeds:
        found = tried(chosen, {"seed": seed})
        events.update(found.events)
        done += 1
        if found.difference is not None:
            failures.append({"case": {"seed": seed}, "difference": found.difference, "kind": found.kind})
            if len(failures) == FAILURES_OF_A_BATCH:
                break
    return {
        "task": "batch", "campaign": campaign, "seeds": done, "failures": failures, "events": dict(events),
        "seconds": time.monotonic() - start,
    }  # fmt: skip


def reduce_case(
    campaign: str, case: Case, difference: str, kind: str, seconds: float, model: Model | None, expected: str
) -> Record:
    """Make a failing case small, for so many seconds at most; errors as `run_batch`."""
    _check(expected)
    if model is not None:
        install(model)
    start = time.monotonic()
    reduced = reduce(CAMPAIGNS[campaign], case, Found(difference, kind), seconds=seconds)
    return {
        "task": "reduction", "campaign": campaign, "case": reduced.case, "difference": reduced.found.difference,
        "kind": kind, "tries": reduced.tries, "is_complete": reduced.is_complete,
        "size": CAMPAIGNS[campaign].size(reduced.case), "seconds": time.monotonic() - start,
    }  # fmt: skip


def _check(expected: str) -> None:
    if expected and sources() != expected:
        raise OtherVersionError(f"its sources {sources()} are not the client's {expected}: check out the same on both")


def install(model: Model) -> None:
    """Put a model into this process's cache if it is not there.

    Raises
    ------
    SweepError
        It arrived damaged.
    """
    path = cache_folder() / model.path.name
    if path.exists():
        # The cache itself finds out whether a file is damaged.
        return
    data = model.parcel.opened("a compiled model")
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(data)
    os.replace(file.name, path)

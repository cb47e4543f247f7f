"""Runs of examples on the golden model, watched for hazards."""

from dataclasses import replace

import numpy as np

from ctm.examples.expectation import Expectation
from ctm.rtl.config import DEFAULT_PRESETS, PRESETS
from ctm.sim.jobs.execution import Execution, Run
from ctm.sim.jobs.loading import LoadedJob

WATCHDOG = 1 << 24


def run(loaded: LoadedJob, *, group: int | None = None, engine: str = "golden") -> Run:
    """Run a job on the default machine of its programs, or with other groups; engine golden is watched for hazards."""
    config = PRESETS[DEFAULT_PRESETS[loaded.kinds[0]]]
    if group is not None:
        config = replace(config, array=config.array.with_wavefront(group))
    return Execution(loaded, engine=engine, config=config, watchdog=WATCHDOG, hazards=engine == "golden").run()


def outputs(loaded: LoadedJob, result: Run) -> dict[str, np.ndarray]:
    """What a run left, by file."""
    return {path.name: result.outputs[key] for key, path in loaded.files.items()}


def assert_holds(found: dict[str, np.ndarray], expected: dict[str, Expectation]) -> None:
    """Check outputs against what numpy says; there may be others."""
    assert found.keys() >= expected.keys()
    for file, expectation in expected.items():
        assert expectation.holds(found[file]), f"{file}: off by {expectation.worst_error(found[file])}"

"""Options of the suite: ``--slow`` and ``--long`` run what it leaves out."""

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from ctm.tb.cli.processes import Process
from ctm.tb.lib.some import ALL_CASES, RATES, has_all_cases, mark

settings.register_profile("ordinary", deadline=None, derandomize=True, max_examples=40)
settings.register_profile("long", deadline=None, max_examples=5000)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run tests of some seconds, as a folder or a file does")
    parser.addoption("--long", action="store_true", help="run tests that take minutes, and many more random cases")


_FIRST = (
    "r700/hardware/test_lockstep", "cli/test_r700", "system/test_examples", "report/test_advice",
    "cosim/test_cosim", "r5xx/test_core_programs", "report/test_profile", "test_style", "test_package",
    "mutation/test_command", "mutation/test_runner", "sweep/test_interrupted", "sweep/test_cluster",
    "verify/test_cluster", "mc/test_shared_cache", "fp/test_compiled_units", "r5xx/alu/test_alu",
    "assembler/r700/test_round_trip", "mc/test_ports", "compiler/python/test_constructs", "compiler/test_constructs",
    "compiled/test_separate", "r700/lane/test_lane", "draws/test_hardware", "debug/test_screen", "debug/test_draws",
    "border/test_paths", "pe/test_processor", "fast/test_examples",
)  # fmt: skip
"""Files that take longest. They come first, so that at the end no process is alone with one of them."""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, Process]]:
    """The address and the process of a scheduler without workers."""
    # Most tests need neither it nor what it imports.
    from ctm.tb.sweep.processes import scheduler

    home = tmp_path / "scheduler"
    home.mkdir()
    with scheduler(home) as found:
        yield found


@pytest.fixture(scope="session")
def is_long(request: pytest.FixtureRequest) -> bool:
    """Whether the run is a long one: a test that has many cases of a kind runs all of them then."""
    return bool(request.config.getoption("--long"))


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("long" if config.getoption("--long") else "ordinary")
    from ctm.tb.lib.machines import share_traced, take_presets

    if config.getoption("--long"):
        os.environ[ALL_CASES] = "1"
        take_presets()
    else:
        share_traced()
    # Python would look for garbage at each 700th object, which takes a tenth of the time.
    gc.set_threshold(200_000, 20, 100)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--long"):
        for item in items:
            item.add_marker(pytest.mark.timeout(0))
    else:
        if not has_all_cases():
            mark(items, RATES)
        has_slow = config.getoption("--slow") or config.args != config.getini("testpaths")
        left_out = ["long"] if has_slow else ["long", "slow"]
        others = {item for item in items if any(map(item.get_closest_marker, left_out))}
        config.hook.pytest_deselected(items=[*others])
        items[:] = [item for item in items if item not in others]
    positions = {Path(__file__).parent / f"{name}.py": position for position, name in enumerate(_FIRST)}
    items.sort(key=lambda item: positions.get(item.path, len(positions)))


def pytest_collection_finish() -> None:
    # What is there now is kept to the end.
    gc.freeze()


def pytest_unconfigure() -> None:
    # Some libraries complain of what is left at exit.
    gc.unfreeze()

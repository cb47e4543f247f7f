"""Options of the suite: ``--long`` runs what takes minutes, and draws many more random cases."""

import pytest
from hypothesis import settings

settings.register_profile("ordinary", deadline=None, derandomize=True, max_examples=100)
settings.register_profile("long", deadline=None, max_examples=5000)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="run tests that take minutes, and many more random cases")


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("long" if config.getoption("--long") else "ordinary")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--long"):
        return
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(pytest.mark.skip(reason="runs with --long"))

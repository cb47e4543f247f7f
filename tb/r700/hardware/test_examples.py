"""The hardware leaves what the golden model leaves in all programs of the model's own examples, and faults alike."""

import pytest

from ctm.tb.r700.hardware.own_examples import MODULES, run_examples

_ALWAYS = ("test_fetch_examples", "test_memory_examples")


def test_all_are_there() -> None:
    assert len(MODULES) == 11 and set(_ALWAYS) < set(MODULES)


@pytest.mark.slow
@pytest.mark.parametrize(
    "module", [pytest.param(name, marks=() if name in _ALWAYS else pytest.mark.long) for name in MODULES]
)
def test_modules(module: str) -> None:
    run_examples(module)

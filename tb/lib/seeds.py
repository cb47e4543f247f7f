"""Seeds of random tests."""

from typing import Any

import pytest


def seeds(count: int, of: int) -> list[Any]:
    """`count` seeds for the ordinary suite, the others of `of` for the long one."""
    return [*range(count), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(count, of))]

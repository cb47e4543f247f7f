"""Parts of long lists of cases for the quick suite."""

from collections.abc import Sequence
from typing import Any

import pytest


def some(cases: Sequence[Any], every: int) -> list[Any]:
    """One case of so many is always run, all with --long."""
    return [
        case if number % every == 0 else pytest.param(case, marks=pytest.mark.long) for number, case in enumerate(cases)
    ]

"""Engine `fast`, watched: compiled code that gave all of its groups to the golden model would leave the same, too."""

from typing import Any
from unittest.mock import patch

from ctm.sim.engines.fast.engine import FastEngine
from ctm.sim.golden.dpp.core import ArrayRun


class WatchedEngine(FastEngine):
    """`given_back` are the groups that the golden model has run."""

    given_back = 0

    def execute(self, address: int, dwords: int) -> None:
        """See `FastEngine.execute`."""
        add = ArrayRun.add

        def counted(run: ArrayRun[Any, Any], groups: Any) -> None:
            self.given_back += groups.order.size
            add(run, groups)

        with patch.object(ArrayRun, "add", counted):
            super().execute(address, dwords)

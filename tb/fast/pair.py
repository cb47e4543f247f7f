"""The two engines of a comparison, wherever they are made."""

from typing import Any

import pytest

from ctm.sim.engines.choice import ENGINES
from ctm.sim.engines.engine import Engine
from ctm.sim.engines.fast.host import Host
from ctm.sim.engines.golden import GoldenEngine
from ctm.tb.fast.watched import WatchedEngine
from ctm.tb.system.memories import first_difference


class Pair:
    """The engines that were made by name, the last one of each kind; `host` is that of engine `fast`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.engines: dict[str, Engine] = {}
        self.host: Host | None = None
        monkeypatch.setitem(ENGINES, "golden", self._golden)
        monkeypatch.setitem(ENGINES, "fast", self._fast)

    def _golden(self, *given: Any, **options: Any) -> Engine:
        self.engines["golden"] = GoldenEngine(*given, **options)
        return self.engines["golden"]

    def _fast(self, *given: Any, **options: Any) -> Engine:
        self.engines["fast"] = WatchedEngine(*given, host=self.host, **options)
        return self.engines["fast"]

    def check(self) -> None:
        """Memories and counts are equal, and the golden model did nothing of what compiled code has to."""
        fast, golden = self.engines["fast"], self.engines["golden"]
        address = first_difference(fast.memory, golden.memory, ignored=set())
        assert address is None, f"memory differs at 0x{address:08x}"
        assert fast.report() == golden.report()
        assert isinstance(fast, WatchedEngine) and not fast.given_back, f"{fast.remarks}"
        self.engines.clear()

"""Timing of an ALU group: cycles from the first one of the interval in which its operands are read."""

from dataclasses import dataclass

from ctm.rtl.config import ArrayConfig
from ctm.rtl.isa.r700.limits import READ_CYCLES
from ctm.rtl.r700.partition import PERIOD, Partition


@dataclass(frozen=True, kw_only=True)
class Intervals:
    """An interval begins in every `interval` cycles and issues one group; the lanes take it in `passes`.

    In the cycles 0 to 2 operands of the first slice are read, in the next four those of the next one, and so on. From
    `choice` on the operands of each pass are chosen; a cycle later they are in the lanes. The last pass's results come
    in cycle `last`. When those of a slice's last pass come, its vector results are written, and in the next cycle those
    of slot t.
    """

    interval: int
    passes: int
    lane_latency: int

    choice = READ_CYCLES

    @property
    def first(self) -> int:
        """The cycle of the first pass's results."""
        return self.choice + 1 + self.lane_latency

    @property
    def last(self) -> int:
        """The cycle of the last pass's results, in which the last slice's vector results are written."""
        return self.first + self.passes - 1

    @property
    def intervals(self) -> int:
        """From one group of a clause to the next one, in intervals."""
        return -(-(self.last + 2) // self.interval)

    def phase(self, cycle: int) -> int:
        """The position of a cycle in its interval."""
        return cycle % self.interval

    @staticmethod
    def step(cycle: int) -> int:
        """The position of a cycle in the cycles of its slice."""
        return cycle % PERIOD


def intervals_of(array: ArrayConfig, lane_latency: int) -> Intervals:
    """The intervals of a core."""
    passes = Partition.of(array).passes
    return Intervals(interval=max(PERIOD, passes), passes=passes, lane_latency=lane_latency)

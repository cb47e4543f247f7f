"""Intervals: a group's cycles, followed one by one, and the earliest next group of a clause."""

from itertools import count, product

from ctm.rtl.config import ArrayConfig, PipelineConfig
from ctm.rtl.r700.alu.intervals import Intervals, intervals_of
from ctm.rtl.r700.lane.timing import lane_latency

READS, PERIOD = 3, 4
"""Operands are read in three of every four cycles, for a slice of at most four passes."""
LATENCIES = range(25)
GROUPS = 12


def configurations() -> list[ArrayConfig]:
    """All numbers of passes, those of a rate below the lanes among them."""
    return [
        ArrayConfig(instruction_set="r700", lanes=lanes, wavefront=wavefront, rate=rate)
        for lanes, wavefront, rate in product((4, 8, 16), (4, 8, 16, 32, 64), (0, 1, 2, 4))
        if wavefront >= lanes
    ]


def passes_in(array: ArrayConfig) -> int:
    """Passes over a wavefront."""
    return array.wavefront // (array.rate or array.lanes)


class Followed:
    """A group whose interval begins in cycle 0: the events of each cycle."""

    def __init__(self, passes: int, latency: int) -> None:
        in_slice = min(passes, PERIOD)
        slices = range(passes // in_slice)
        self.reads = [[PERIOD * number + cycle for cycle in range(READS)] for number in slices]
        # What is read in one cycle is there in the next one; a cycle later it is in the lanes.
        chosen = [self.reads[0][-1] + 1 + number for number in range(passes)]
        self.choice = chosen[0]
        self.results = [cycle + 1 + latency for cycle in chosen]
        ends = [self.results[in_slice * (number + 1) - 1] for number in slices]
        self.writes = [[end, end + 1] for end in ends]
        """Of each slice: vector results, results of slot t."""

    def may_be_followed(self, distance: int) -> bool:
        """Whether a group so many cycles later reads this one's results.

        It is decoded in the last cycle before its interval, for the pixels that the results have left, and reads a
        register when it is written.
        """
        decoded = distance - 1 > self.results[-1]
        return decoded and all(
            distance + reads[0] > writes[-1] for reads, writes in zip(self.reads, self.writes, strict=True)
        )


def check_group(intervals: Intervals, passes: int, latency: int) -> None:
    """Cycles of one group, and of a later one."""
    followed = Followed(passes, latency)
    assert intervals.passes == passes
    assert (intervals.choice, intervals.first, intervals.last) == (
        followed.choice, followed.results[0], followed.results[-1],
    )  # fmt: skip
    # Operands of all slices are read, and all passes go into the lanes, before those of the next group.
    assert intervals.interval == max(PERIOD, passes)
    nearest = next(number for number in count(1) if followed.may_be_followed(number * intervals.interval))
    assert intervals.intervals == nearest


def check_calendar(intervals: Intervals, passes: int, latency: int) -> None:
    """With a group in each interval no two use a port in the same cycle, and positions in intervals are the same."""
    followed = Followed(passes, latency)
    starts = [number * intervals.interval for number in range(GROUPS)]
    reads = [start + cycle for start in starts for own in followed.reads for cycle in own]
    writes = [start + cycle for start in starts for own in followed.writes for cycle in own]
    lanes = [start + cycle for start in starts for cycle in followed.results]
    assert all(len(set(cycles)) == len(cycles) for cycles in (reads, writes, lanes))
    vector, trans = ({own[number] % PERIOD for own in followed.writes} for number in range(2))
    assert ({intervals.step(intervals.last)}, {intervals.step(intervals.last + 1)}) == (vector, trans)
    for start, cycle in product(starts, (*range(intervals.last + 2),)):
        assert intervals.phase(start + cycle) == intervals.phase(cycle) < intervals.interval
    assert [intervals.phase(cycle) for cycle in range(intervals.interval)] == [*range(intervals.interval)]


def compare() -> None:
    """What the ordinary suite compares."""
    for array, latency in product(configurations(), LATENCIES):
        intervals, passes = intervals_of(array, latency), passes_in(array)
        check_group(intervals, passes, latency)
        check_calendar(intervals, passes, latency)


def test_groups_follow_each_other_as_soon_as_they_can() -> None:
    compare()


def test_cycles_are_those_of_the_documentation() -> None:
    """Sixteen pixels on four lanes, and one at a time."""
    latency = lane_latency(PipelineConfig())
    array = ArrayConfig(instruction_set="r700", lanes=4, wavefront=16)
    intervals = intervals_of(array, latency)
    assert (intervals.interval, intervals.intervals) == (4, 5)
    slow = intervals_of(ArrayConfig(instruction_set="r700", lanes=4, wavefront=16, rate=1), latency)
    assert (slow.interval, slow.intervals) == (16, 2)

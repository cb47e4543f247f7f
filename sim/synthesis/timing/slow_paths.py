"""The slowest paths of a routed netlist, together by the registers from which and to which they lead.

nextpnr reports one path. Which others are nearly as slow decides whether a change of that one gives a faster clock.
"""

import re
from collections.abc import Iterator
from graphlib import TopologicalSorter

from ctm.sim.synthesis.report import Names, SlowPaths
from ctm.sim.synthesis.timing.delays import Delays

_SLOW = 0.9
"""Of the longest path's delay: paths from that on are slow."""
_NUMBERS = re.compile(r"\[\d+\]$|(\.\d+)+(\$\w+)?(?=$| \()")
"""The bit of a register, or the cell of a memory of several."""
_CARRY = "/FCI"


class _Arrivals:
    """When each output has its value, in ns after the clock's edge, and the input from which it comes last."""

    def __init__(self, delays: Delays) -> None:
        self._delays = delays
        self._at = dict(delays.starts)
        self._last: dict[str, str] = {}
        wires = delays.wires
        drivers = {
            output: {wires[pin][0] for pin, _ in inputs if pin in wires} for output, inputs in delays.cells.items()
        }
        for output in TopologicalSorter(drivers).static_order():
            for pin, delay in delays.cells.get(output, ()):
                at = self.at(pin)
                if at is not None and at + delay > self._at.get(output, -1.0):
                    self._at[output], self._last[output] = at + delay, pin

    def at(self, pin: str) -> float | None:
        """When an input has its value; `None` if it follows from no register."""
        driver, delay = self._delays.wires.get(pin, ("", 0.0))
        return self._at[driver] + delay if driver in self._at else None

    def path(self, pin: str) -> Iterator[tuple[str, float]]:
        """The outputs on the path to an input, the last first, and the wire's delay from each."""
        while True:
            driver, delay = self._delays.wires[pin]
            yield driver, delay
            if driver not in self._last:
                return
            pin = self._last[driver]

    def levels(self, pin: str) -> int:
        """The number of cells on the path to an input."""
        inputs = (self._last[driver] for driver, _ in self.path(pin) if driver in self._last)
        return sum(not source.endswith(_CARRY) for source in inputs)


def slow_paths(delays: Delays, names: Names) -> tuple[SlowPaths, ...]:
    """Paths that take at least 0.9 of the longest one's time, the slowest first.

    Raises
    ------
    graphlib.CycleError
        The netlist has a combinational loop.
    """
    arrivals = _Arrivals(delays)
    ends = {pin: at + setup for pin, setup in delays.ends.items() if (at := arrivals.at(pin)) is not None}
    least = _SLOW * max(ends.values(), default=0.0)
    together: dict[tuple[str, str], list[str]] = {}
    for pin in sorted((pin for pin, delay in ends.items() if delay >= least), key=lambda pin: -ends[pin]):
        *_, (start, _) = arrivals.path(pin)
        together.setdefault((_register(start, names), _register(pin, names)), []).append(pin)
    return tuple(
        SlowPaths(
            start=start,
            end=end,
            ends=len(pins),
            delay=ends[pins[0]],
            routing=sum(delay for _, delay in arrivals.path(pins[0])),
            levels=arrivals.levels(pins[0]),
        )
        for (start, end), pins in together.items()
    )


def _register(pin: str, names: Names) -> str:
    return _NUMBERS.sub("", names.name(pin.rpartition("/")[0]))

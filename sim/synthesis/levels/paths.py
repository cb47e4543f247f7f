"""The longest paths of a design: those with the most levels, or those through the most units."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ctm.sim.synthesis.levels.design import OUTSIDE, Design, End, Modules

_UNIT = 1 << 16
"""More than there are levels in any path."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """An instance that a path passes, and the ports of its own by which it comes and leaves, if it does so by ports."""

    instance: int
    entered: str | None
    left: str | None


@dataclass(frozen=True, kw_only=True)
class Path:
    """A path to an end from a net that a cell holds, or that comes from outside; `nets` are all that it passes."""

    levels: int
    nets: Sequence[int]
    end: End
    steps: tuple[Step, ...]


class Longest:
    """The longest paths to all nets from which an end of a design follows: by levels, or by units and then levels.

    Raises
    ------
    ValueError
        A net follows from itself.
    """

    def __init__(self, design: Design, *, by_units: bool = False) -> None:
        self._design, self._unit = design, _UNIT if by_units else 0
        self._lengths: dict[int, int] = {}
        self._before: dict[int, int] = {}
        for net in _in_order(design):
            self._measure(net)

    def length(self, end: End) -> int:
        """A number by which paths to ends are compared: the longer the path, the larger."""
        return self._lengths[end.net] + self._crossing(end.net, end.instance)

    def units(self, end: End) -> int:
        """How many units the longest path to an end passes, if paths are compared by units."""
        return self.length(end) // _UNIT + 1

    def path(self, end: End) -> Path:
        """The longest path to an end."""
        nets = [end.net]
        while nets[-1] in self._before:
            nets.append(self._before[nets[-1]])
        nets.reverse()
        levels = self._lengths[end.net] % _UNIT
        return Path(levels=levels, nets=nets, end=end, steps=_steps(self._design, nets, end))

    def _measure(self, net: int) -> None:
        longest, before = 0, None
        instance = _giver(self._design, net)
        for source, levels in self._design.sources.get(net, ()):
            length = self._lengths[source] + levels + self._crossing(source, instance)
            if before is None or length > longest:
                longest, before = length, source
        self._lengths[net] = longest
        if before is not None:
            self._before[net] = before

    def _crossing(self, net: int, instance: int) -> int:
        giver = _giver(self._design, net)
        return self._unit if giver != instance and OUTSIDE not in (giver, instance) else 0


def most_levels(modules: Modules, top: str) -> int:
    """The levels of the longest path of a module by itself."""
    design = Design({top: modules[top]}, top)
    longest = Longest(design)
    return max(map(longest.length, design.ends), default=0)


def _giver(design: Design, net: int) -> int:
    return design.givers.get(net, (OUTSIDE, ""))[0]


def _in_order(design: Design) -> Iterator[int]:
    """All nets from which an end follows, each after those from which it follows itself."""
    done: set[int] = set()
    open_nets: set[int] = set()
    waiting = [(end.net, False) for end in design.ends]
    while waiting:
        net, is_closed = waiting.pop()
        if is_closed:
            open_nets.remove(net)
            done.add(net)
            yield net
        elif net not in done:
            if net in open_nets:
                instance = design.instances[_giver(design, net)]
                raise ValueError(f"a net that {instance.module} gives follows from itself in the same cycle")
            open_nets.add(net)
            waiting.append((net, True))
            waiting += ((source, False) for source, _ in design.sources.get(net, ()) if source not in done)


def _steps(design: Design, nets: Sequence[int], end: End) -> tuple[Step, ...]:
    """The instances whose cells give the nets of a path, and the one that takes the last."""
    passed = [(_giver(design, net), net) for net in nets] + [(end.instance, end.net)]
    found: list[tuple[int, int | None, int]] = []
    entered: int | None = None
    for instance, net in passed:
        if instance != OUTSIDE:
            if found and found[-1][0] == instance:
                found[-1] = instance, found[-1][1], net
            else:
                found.append((instance, entered, net))
        entered = net
    last = len(found) - 1
    return tuple(
        Step(
            instance=instance,
            entered=None if before is None else design.ports[instance].get(before),
            left=design.ports[instance].get(after) if number < last or end.instance == OUTSIDE else None,
        )
        for number, (instance, before, after) in enumerate(found)
    )

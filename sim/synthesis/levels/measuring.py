"""Levels of a machine's units, each by itself and all linked, and the longest chains of units."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ctm.rtl.config import MachineConfig
from ctm.sim.compiled.machine import machine_rtlil
from ctm.sim.compiled.tools.package import FPGA_YOSYS
from ctm.sim.synthesis.hierarchy import Unit, units
from ctm.sim.synthesis.levels.design import OUTSIDE, Design, End, Modules
from ctm.sim.synthesis.levels.paths import Longest, most_levels
from ctm.sim.synthesis.report import Netlist
from ctm.sim.synthesis.synthesis import Synthesis
from ctm.sim.synthesis.tool import side_by_side

_TOP = "ctm"
CHAINS = 10
"""Chains that are told."""


@dataclass(frozen=True, kw_only=True)
class UnitLevels:
    """A unit, how often the machine has it, and its levels.

    `alone` are those of its longest path between its own registers and ports, `linked` those of the longest path of the
    machine that ends in it, none if not all units are linked.
    """

    name: str
    count: int
    alone: int
    linked: int | None = None


@dataclass(frozen=True, kw_only=True)
class ChainStep:
    """A unit that a signal passes, and its ports by which that comes and leaves, if it does so by ports of its own."""

    unit: str
    entered: str | None
    left: str | None


@dataclass(frozen=True, kw_only=True)
class Chain:
    """A path of the machine: what holds its `start` and takes its `end`, and the units that it passes in one cycle."""

    levels: int
    start: str
    end: str
    steps: tuple[ChainStep, ...]


@dataclass(frozen=True, kw_only=True)
class MachineLevels:
    """The units of a machine, the deepest first, and if all are linked its chains, those of the most units first.

    `ends` says how many ends of paths have a chain of so many units, `deepest` is the path with the most levels. Of
    chains through the same units only the one with the most levels is told.
    """

    units: tuple[UnitLevels, ...]
    ends: Mapping[int, int] = field(default_factory=dict)
    deepest: Chain | None = None
    chains: tuple[Chain, ...] = ()


class UnknownUnitError(Exception):
    """The machine has no unit of a name; the message says which it has."""


def measure_levels(
    config: MachineConfig,
    *,
    folder: Path,
    frequency: float,
    names: Sequence[str] = (),
    progress: Callable[[str], None] = lambda text: None,
) -> MachineLevels:
    """The levels of a machine's units on an ECP5, mapped as `measure_machine` does; of some, if there are `names`.

    A unit is named in full or by the last components of its name. `folder`, `frequency` and `progress` are those of
    `measure_machine`.

    Raises
    ------
    UnknownUnitError
        There is no unit of a name.
    ToolchainError
        Yosys is missing or failed.
    """
    FPGA_YOSYS.require()
    progress("writing the machine")
    chosen = _chosen(units(machine_rtlil(config, top=_TOP), _TOP), names)
    with side_by_side() as tools:
        synthesis = Synthesis(folder, tools, frequency)
        for _ in synthesis.run(chosen, progress):
            pass
        modules = synthesis.modules()
    progress("following signals")
    return linked_levels(chosen, modules) if not names else MachineLevels(units=_sorted(_alone(chosen, modules)))


def linked_levels(chosen: Sequence[Unit], modules: Modules) -> MachineLevels:
    """The same of all units of a machine, by their netlists."""
    machine = _Machine(chosen, modules)
    linked = machine.levels_by_unit()
    found = (
        UnitLevels(name=each.name, count=each.count, alone=each.alone, linked=linked[each.name])
        for each in _alone(chosen, modules)
    )
    return MachineLevels(
        units=_sorted(found), ends=machine.ends(), deepest=machine.deepest(), chains=tuple(machine.chains())
    )


def _chosen(listed: Sequence[Unit], names: Sequence[str]) -> list[Unit]:
    """The units of these names, or all."""
    for name in names:
        if not any(_is_called(unit, name) for unit in listed):
            raise UnknownUnitError(
                f"the machine has no unit '{name}'; it has {', '.join(sorted(unit.name for unit in listed))}"
            )
    return [unit for unit in listed if not names or any(_is_called(unit, name) for name in names)]


def _is_called(unit: Unit, name: str) -> bool:
    return f".{unit.name}".endswith(f".{name}")


def _alone(chosen: Sequence[Unit], modules: Modules) -> Iterator[UnitLevels]:
    for unit in chosen:
        yield UnitLevels(name=unit.name, count=unit.count, alone=most_levels(modules, unit.top))


def _sorted(found: Iterator[UnitLevels]) -> tuple[UnitLevels, ...]:
    """Units by their levels, the most first: linked, else by themselves."""
    return tuple(sorted(found, key=lambda unit: (-(unit.linked or 0), -unit.alone, unit.name)))


class _Machine:
    """All units of a machine, linked."""

    def __init__(self, chosen: Sequence[Unit], modules: Modules) -> None:
        self._names = {unit.top: unit.name for unit in chosen}
        self._netlists = {name: Netlist(module) for name, module in modules.items()}
        self._design = Design(modules, _TOP)
        self._by_levels = Longest(self._design)
        self._by_units = Longest(self._design, by_units=True)

    def levels_by_unit(self) -> Counter[str]:
        """The levels of the longest path that ends in each unit."""
        found: Counter[str] = Counter()
        for end in self._design.ends:
            if end.instance != OUTSIDE:
                name = self._unit(end.instance)
                found[name] = max(found[name], self._by_levels.length(end))
        return found

    def ends(self) -> dict[int, int]:
        """How many ends of paths have a chain of so many units."""
        return dict(sorted(Counter(map(self._by_units.units, self._design.ends)).items()))

    def deepest(self) -> Chain:
        """The path with the most levels."""
        return self._chain(max(self._design.ends, key=self._by_levels.length), self._by_levels)

    def chains(self) -> Iterator[Chain]:
        """The longest chains, each through other units."""
        seen: set[tuple[str, ...]] = set()
        for end in sorted(self._design.ends, key=self._by_units.length, reverse=True):
            chain = self._chain(end, self._by_units)
            passed = tuple(step.unit for step in chain.steps)
            if passed not in seen:
                seen.add(passed)
                yield chain
            if len(seen) == CHAINS:
                return

    def _chain(self, end: End, longest: Longest) -> Chain:
        path = longest.path(end)
        first = path.nets[0]
        giver = self._design.givers.get(first)
        return Chain(
            levels=path.levels,
            start=self._design.ports[0].get(first, "") if giver is None else self._cell(*giver),
            end=self._cell(end.instance, end.cell),
            steps=tuple(
                ChainStep(unit=self._unit(step.instance), entered=step.entered, left=step.left) for step in path.steps
            ),
        )

    def _cell(self, instance: int, cell: str) -> str:
        """What a cell is called, or an output of the machine."""
        return cell if instance == OUTSIDE else self._netlists[self._design.instances[instance].module].name(cell)

    def _unit(self, instance: int) -> str:
        return self._names[self._design.instances[instance].module]

"""Mapped units linked to one graph: which net depends on which, and in which unit."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ctm.sim.synthesis.families.arcs import CELLS, passing
from ctm.sim.synthesis.families.netlist import Bit, nets

Modules = Mapping[str, Mapping[str, Any]]
OUTSIDE = -1
"""The instance of an end at an output of the design."""


@dataclass(frozen=True)
class End:
    """Where paths end: a net that a cell of an instance reads, or that is an output of the design."""

    net: int
    instance: int
    cell: str


@dataclass(frozen=True)
class Instance:
    """A unit's instance: the design's net of each bit of its module."""

    module: str
    nets: dict[Bit, int]


class Design:
    """The nets of a design of modules by their names, from `top` on, mapped to cells of an ECP5.

    At a box without a module paths end at all inputs and begin at all outputs.

    Members
    -------
    instances : list
    ports : list
        Of each instance, the names of ports by net.
    sources : dict
        Of a net, those that it depends on, and the levels between them.
    givers : dict
        Of a net, the instance whose cell drives it, and that cell.
    held : set
        Nets that a state element drives: a path begins there.
    ends : list
        The ends of paths, but for those of cells that nothing reads.
    """

    def __init__(self, modules: Modules, top: str) -> None:
        self._modules = modules
        self._joined: list[int] = []
        self.instances: list[Instance] = []
        self._instantiate(top)
        self.ports = [
            {self._root(net): name for name, nets in self._port_nets(instance).items() for net in nets}
            for instance in self.instances
        ]
        self.sources: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        self.givers: dict[int, tuple[int, str]] = {}
        self.held: set[int] = set()
        self._taken: dict[tuple[int, str], list[int]] = {}
        self.ends: list[End] = []
        for number in range(len(self.instances)):
            self._enter(number)
        ports = modules[top]["ports"]
        self.ends += (
            End(root, OUTSIDE, name)
            for name, nets in self._port_nets(self.instances[0]).items()
            if ports[name]["direction"] == "output"
            for root in map(self._root, nets)
            if root in self.givers
        )
        self._add_read_ends()

    def _root(self, net: int) -> int:
        """The representative of joined nets (union-find)."""
        while self._joined[net] != net:
            self._joined[net] = self._joined[self._joined[net]]
            net = self._joined[net]
        return net

    def _instantiate(self, name: str) -> Instance:
        """Add an instance of a module and of all its submodules; a port's nets are joined with those at its pins."""
        instance = Instance(name, {})
        self.instances.append(instance)
        module = self._modules[name]
        for bit in sorted(nets(module)):
            instance.nets[bit] = len(self._joined)
            self._joined.append(len(self._joined))
        for cell in module["cells"].values():
            if cell["type"] in self._modules:
                self._connect(instance, cell, self._instantiate(cell["type"]))
        return instance

    def _connect(self, outer: Instance, cell: Mapping[str, Any], inner: Instance) -> None:
        ports = self._modules[inner.module]["ports"]
        for pin, bits in cell["connections"].items():
            for own, other in zip(bits, ports[pin]["bits"] if pin in ports else (), strict=False):
                # A constant at one side begins no path at the other.
                if isinstance(own, int) and isinstance(other, int):
                    self._joined[self._root(outer.nets[own])] = self._root(inner.nets[other])

    def _port_nets(self, instance: Instance) -> dict[str, list[int]]:
        ports = self._modules[instance.module]["ports"]
        return {
            name: [instance.nets[bit] for bit in port["bits"] if bit in instance.nets] for name, port in ports.items()
        }

    def _enter(self, number: int) -> None:
        """Enter what the cells of an instance do."""
        instance = self.instances[number]
        roots = {bit: self._root(net) for bit, net in instance.nets.items()}
        for name, cell in self._modules[instance.module]["cells"].items():
            if cell["type"] in self._modules:
                continue
            passed, key = passing(cell), (number, name)
            for result, source, levels in passed.arcs:
                if result in roots and source in roots:
                    self.sources[roots[result]].append((roots[source], levels))
            held = {roots[bit] for bit in passed.held if bit in roots}
            self.givers |= {roots[result]: key for result, _, _ in passed.arcs if result in roots}
            self.givers |= dict.fromkeys(held, key)
            self.held |= held
            self._taken[key] = [roots[bit] for bit in passed.taken if bit in roots]
            if cell["type"] not in CELLS:
                self.ends += (End(taken, *key) for taken in self._taken[key])

    def _add_read_ends(self) -> None:
        """Add those ends from whose cells follows what is an end already."""
        waiting = [end.net for end in self.ends]
        seen_nets: set[int] = set()
        seen_cells: set[tuple[int, str]] = {(end.instance, end.cell) for end in self.ends}
        while waiting:
            net = waiting.pop()
            if net in seen_nets:
                continue
            seen_nets.add(net)
            waiting += (source for source, _ in self.sources.get(net, ()))
            key = self.givers.get(net)
            if key is not None and net in self.held and key not in seen_cells:
                seen_cells.add(key)
                waiting += self._taken[key]
                self.ends += (End(taken, *key) for taken in self._taken[key])

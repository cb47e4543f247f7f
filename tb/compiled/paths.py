"""Paths through a module: which outputs depend in the same cycle on an input, or on registers."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from pathlib import Path

from ctm.sim.compiled.rewriting.rtlil import Bit, bits, cells, wires
from ctm.sim.compiled.tools.yosys import yosys

_FLAT = ("hierarchy -top {top}", "proc", "opt_clean", "flatten -noscopeinfo", "opt_clean -purge", "write_rtlil out.il")


class Paths:
    """What follows from what in a design in RTLIL; `folder` is for Yosys's files."""

    def __init__(self, text: str, *, top: str, folder: Path) -> None:
        text = yosys(folder, text, *(command.format(top=top) for command in _FLAT), result="out.il")
        lines = text.splitlines(keepends=True)
        self._widths = {wire.name: wire.width for wire in wires(lines)}
        self.inputs, self.outputs = (_ports(lines, kind) for kind in ("input", "output"))
        self._readers: dict[Bit | int, list[Bit | int]] = defaultdict(list)
        self._registers: dict[str, list[Bit]] = defaultdict(list)
        for number, cell in enumerate(cells(lines)):
            if cell.kind and cell.is_combinational:
                # Every output follows from every input.
                self._connect(self._bits(cell.inputs), [number])
                self._connect([number], self._bits(cell.outputs))
            elif cell.kind == "$dff":
                self._registers[cell.inputs["CLK"]] += self._bits({"Q": cell.outputs["Q"]})
            elif not cell.kind:
                for pair in zip(self._bits(cell.inputs), self._bits(cell.outputs), strict=True):
                    self._connect(pair[:1], pair[1:])

    def _bits(self, ports: Mapping[str, str]) -> list[Bit]:
        return [bit for signal in ports.values() for bit in bits(signal, self._widths)]

    def _connect(self, sources: Iterable[Bit | int], targets: Iterable[Bit | int]) -> None:
        for source in sources:
            if not isinstance(source, str):
                self._readers[source] += targets

    def reached(self, name: str) -> Set[str]:
        """The outputs that follow from an input in the same cycle."""
        return self._outputs_reached((name, index) for index in range(self._widths[name]))

    def reached_from_registers(self, clock: str) -> Set[str]:
        """The outputs that follow from registers with a clock whose name ends so; there must be some."""
        return self._outputs_reached(
            bit for name, bits in self._registers.items() if name.endswith(clock) for bit in bits
        )

    def _outputs_reached(self, bits: Iterable[Bit]) -> Set[str]:
        found: set[Bit | int] = set(bits)
        assert found
        waiting = list(found)
        while waiting:
            more = set(self._readers[waiting.pop()]) - found
            found |= more
            waiting += more
        return {bit[0] for bit in found if isinstance(bit, tuple) and bit[0] in self.outputs}


def _ports(lines: Iterable[str], kind: str) -> Set[str]:
    return {line.split()[-1] for line in lines if re.match(rf"  wire .*\b{kind} \d", line)}

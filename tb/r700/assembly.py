"""Puts programs together: CF instructions first, then the clauses that they start."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ctm.sim.elf.r700.executable import Executable
from ctm.tb.r700.words import Unit, alu_word, export, joined, word

_FETCH_UNITS = 2


class Label:
    """The address of a CF instruction that may come later."""

    def __init__(self) -> None:
        self.address = -1


@dataclass
class Assembly:
    """A program while it is written. Words know their addresses when all are there."""

    words: list[Callable[[], Unit]] = field(default_factory=list)
    clauses: list[tuple[int, list[Unit]]] = field(default_factory=list)
    _starts: dict[int, int] = field(default_factory=dict)

    @property
    def here(self) -> int:
        """The address of the next CF instruction."""
        return len(self.words)

    def bind(self, label: Label) -> None:
        """Make the next CF instruction the label's."""
        label.address = self.here

    def raw(self, unit: Unit) -> int:
        """A CF instruction as it is; its address."""
        self.words.append(lambda: unit)
        return self.here - 1

    def flow(self, name: str, to: "Label | int" = 0, **fields) -> int:
        """A CF instruction that goes to a label or address; its address."""
        self.words.append(lambda: word(name, to.address if isinstance(to, Label) else to, **fields))
        return self.here - 1

    def alu(self, *groups: Sequence[Unit], name: str = "ALU", **fields) -> int:
        """A CF instruction with the clause that it starts; its address."""
        units = joined(groups)
        at = self._clause(units, 1)
        self.words.append(lambda: alu_word(name, self._starts[at], len(units), **fields))
        return self.here - 1

    def fetch(self, *instructions: Sequence[Unit], name: str = "TEX", **fields: int) -> int:
        """A CF instruction with the fetch clause that it starts; its address."""
        at = self._clause(joined(instructions), _FETCH_UNITS)
        own: dict[str, Any] = {"count": len(instructions) - 1 & 7, "count_3": len(instructions) - 1 >> 3, **fields}
        self.words.append(lambda: word(name, self._starts[at], **own))
        return self.here - 1

    def output(self, gpr: int, target: int = 0, *, ends: bool = True) -> int:
        """Export a register to a target."""
        return self.raw(export(target, gpr, name="EXPORT_DONE", end_of_program=int(ends)))

    def end(self) -> int:
        """A word that ends the program."""
        return self.flow("NOP", end_of_program=1)

    def start_of(self, clause: int) -> int:
        """The address of a clause, by its number; when the program is finished."""
        return self._starts[clause]

    def _clause(self, units: list[Unit], alignment: int) -> int:
        self.clauses.append((alignment, units))
        return len(self.clauses) - 1

    def executable(self, **information) -> Executable:
        """The program; 16 registers and a stack of 8 entries unless `information` says otherwise."""
        at, after = self.here, []
        for number, (alignment, units) in enumerate(self.clauses):
            while at % alignment:
                after.append((0, 0))
                at += 1
            self._starts[number] = at
            after += units
            at += len(units)
        code = [make() for make in self.words] + after
        return Executable(code=tuple(code), **{"gprs": 16, "stack_size": 8, **information})

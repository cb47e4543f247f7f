"""A design cut into units that a synthesiser can hold one at a time.

Flattened, a whole machine does not fit the memory of a WebAssembly tool. So each large module becomes a unit of its
own, with its small submodules. A unit inside another one is replaced by a black box, which synthesis keeps.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from ctm.sim.compiled.rewriting.repeated import merge
from ctm.sim.compiled.rewriting.rtlil import modules
from ctm.sim.synthesis.collisions import with_collisions

_NAME = re.compile(r"^module (\S+)$", re.MULTILINE)
_INSIDE = re.compile(r"^  cell (\\\S+) ", re.MULTILINE)
_PORT = re.compile(r"^  wire .*\b(?:input|output|inout) \d+ .*\n", re.MULTILINE)
_PORT_FIELDS = re.compile(r"(?:width (?P<width>\d+) )?(?P<direction>input|output) \d+ +\\(?P<name>\S+)")
_OWN_NUMBER = re.compile(r"\$\d+")
"""Amaranth's suffix of a name that it has given before."""
_LARGEST = 60_000
"""Lines up to which a module is a unit with all that is in it."""
_SMALLEST = 1_200
"""Lines from which on a module in a larger one is a unit of its own."""
_COVER = 4_000
"""Lines up to which the logic around a module is only its cover."""


@dataclass(frozen=True, kw_only=True)
class Unit:
    """A module with the submodules that are no units; `count` is how often the design has it, `text` its RTLIL."""

    module: str
    count: int
    text: str

    @property
    def name(self) -> str:
        """Its first path in the design, without the numbers that Amaranth adds to equal names."""
        return _OWN_NUMBER.sub("", self.top)

    @property
    def top(self) -> str:
        """The module, as Yosys's commands call it."""
        return self.module.removeprefix("\\")

    @property
    def ports(self) -> dict[str, tuple[int, bool]]:
        """Width of each port, and whether it is an input."""
        found = map(_PORT_FIELDS.search, _PORT.findall(self._own))
        ports = (port for port in found if port is not None)
        return {port["name"]: (int(port["width"] or 1), port["direction"] == "input") for port in ports}

    @property
    def box(self) -> str:
        """A black box with the module's ports, in RTLIL."""
        return _box(self.module, self._own)

    @property
    def _own(self) -> str:
        """The text of the module itself."""
        own = self.text[self.text.index(f"module {self.module}\n") :]
        return own[: own.index("\nend\n") + 1]


def units(
    text: str, top: str, *, largest: int = _LARGEST, smallest: int = _SMALLEST, cover: int = _COVER
) -> list[Unit]:
    """The units of a design in RTLIL, each once, the largest text first.

    Modules of more than `largest` lines, all that is in them counted, are cut; of what is in one that is cut, modules
    from `smallest` lines on become units. A module that is cut itself, with fewer than `cover` lines around it, is one
    unit with these, so that logic whose outputs they leave unconnected is not counted.
    """
    design = _Design(merge(text, top))
    counts: Counter[str] = Counter()
    insides: dict[str, Counter[str]] = {}
    waiting = [(f"\\{top}", 1)]
    while waiting:
        name, count = waiting.pop()
        counts[name] += count
        if name not in insides:
            insides[name] = design.cuts(name, largest=largest, smallest=smallest, cover=cover)
        waiting += [(inner, number * count) for inner, number in insides[name].items()]
    found = [Unit(module=name, count=counts[name], text=design.unit(name, inner)) for name, inner in insides.items()]
    return sorted(found, key=lambda unit: -len(unit.text))


class _Design:
    """Modules by name, and how often each has which submodules."""

    def __init__(self, text: str) -> None:
        self._texts: dict[str, str] = {}
        for each in modules(text):
            name = _NAME.search(each)
            assert name is not None
            self._texts[name[1]] = with_collisions(each[name.start() :])
        self._insides = {name: Counter(_INSIDE.findall(each)) for name, each in self._texts.items()}
        self._lines: dict[str, int] = {}

    def lines(self, name: str) -> int:
        """Lines of a module with all of its submodules, each counted as often as it is there."""
        if name not in self._lines:
            inner = sum(self.lines(inner) * count for inner, count in self._insides[name].items())
            self._lines[name] = self._texts[name].count("\n") + inner
        return self._lines[name]

    def cuts(self, name: str, *, largest: int, smallest: int, cover: int) -> Counter[str]:
        """The units that are cut out of a module, and how often it has each."""
        found: Counter[str] = Counter()
        if self.lines(name) <= largest:
            return found
        for inner, count in self._insides[name].items():
            if self.lines(inner) > max(largest, self.lines(name) - cover):
                found += self.cuts(inner, largest=largest, smallest=smallest, cover=cover)
            elif self.lines(inner) >= smallest:
                found[inner] += count
        return found

    def unit(self, name: str, boxes: Mapping[str, int]) -> str:
        """The text of a unit: its modules, and a box for each unit in them."""
        texts: dict[str, str] = {}
        waiting = [name]
        while waiting:
            module = waiting.pop()
            if module in texts:
                continue
            if module in boxes:
                texts[module] = _box(module, self._texts[module])
            else:
                texts[module] = self._texts[module]
                waiting += self._insides[module]
        return "".join(texts.values())


def _box(module: str, text: str) -> str:
    """A black box with the ports of a module."""
    return f"attribute \\blackbox 1\nmodule {module}\n{''.join(_PORT.findall(text))}end\n"

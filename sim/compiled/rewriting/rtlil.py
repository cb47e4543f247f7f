"""A flat module in Yosys's RTLIL text: its wires, cells and connections.

The text is that of `write_rtlil`: one item in each line, signals with the most significant field first.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

Bit = tuple[str, int] | str
"""A wire's name and the bit's index in it, or a constant's digit."""
_REFERENCE = re.compile(r"(?<![^ ])([\\$]\S+)(?: \[(\d+)(?::(\d+))?\])?")
_TERM = re.compile(_REFERENCE.pattern + r"|(?<![^ ])(\d+)'([01xz-]*)|(?<![^ ])(-?\d+)(?![^ ])")
_INTEGER_BITS = 32
_OUTPUTS = ("\\Y", "\\Q", "\\DATA")
"""Output ports of Yosys's own cells; the DATA input of a memory write counts as one, which nothing reads."""
_STATE = ("$dff", "$memwr_v2", "$meminit_v2", "$scopeinfo")


@dataclass(frozen=True)
class Cell:
    """A cell; lines are counted in the module's text, `end` is the one after it. A connection is a cell without a kind.

    `inputs` and `outputs` are signals by the names of their ports.
    """

    kind: str
    name: str
    first: int
    end: int
    parameters: Mapping[str, str]
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]

    @property
    def is_combinational(self) -> bool:
        """Whether an output follows an input in the same cycle."""
        return self.kind not in _STATE and not (self.kind == "$memrd_v2" and self.parameters["CLK_ENABLE"] != "0")


@dataclass(frozen=True)
class Wire:
    """A wire, declared in a line; one that is free is neither an input nor a register with a value at the start."""

    name: str
    width: int
    line: int
    is_free: bool
    is_output: bool


def wires(lines: Sequence[str]) -> Iterator[Wire]:
    """The wires."""
    has_init = False
    for number, line in enumerate(lines):
        if line.startswith("  attribute \\init "):
            has_init = True
        elif line.startswith("  wire "):
            words = line.split()
            width = int(words[words.index("width") + 1]) if "width" in words else 1
            yield Wire(words[-1], width, number, not has_init and "input" not in words, "output" in words)
            has_init = False


def modules(text: str) -> Iterator[str]:
    """The texts of a design's modules, with what precedes each."""
    start = 0
    for match in re.finditer(r"^end\n", text, re.MULTILINE):
        yield text[start : match.end()]
        start = match.end()


def cells(lines: Sequence[str]) -> Iterator[Cell]:
    """The cells and connections of a flat module."""
    numbers = iter(range(len(lines)))
    for number in numbers:
        line = lines[number]
        if line.startswith("  connect "):
            left, right = _sides(line.removeprefix("  connect ").rstrip("\n"))
            yield Cell("", "", number, number + 1, {}, {"A": right}, {"Y": left})
        elif line.startswith("  cell "):
            yield _cell(lines, number)


def _cell(lines: Sequence[str], first: int) -> Cell:
    _, kind, name = lines[first].split()
    parameters: dict[str, str] = {}
    inputs: dict[str, str] = {}
    outputs: dict[str, str] = {}
    end = first + 1
    while lines[end] != "  end\n":
        word, *fields = lines[end].strip().split(" ", 2)
        if word == "parameter":
            # `signed` may precede the name.
            key, value = lines[end].split()[-2:]
            parameters[key[1:]] = value
        elif word == "connect":
            port, signal = fields
            (outputs if port in _OUTPUTS else inputs)[port[1:]] = signal
        end += 1
    return Cell(kind, name, first, end + 1, parameters, inputs, outputs)


def _sides(text: str) -> tuple[str, str]:
    """The two signals of a connection."""
    if text.startswith("{"):
        end = text.index(" }") + 2
    else:
        match = _REFERENCE.match(text)
        assert match is not None, text
        end = match.end()
    return text[:end], text[end + 1 :]


def _range(match: re.Match[str], width: int) -> tuple[int, int]:
    if match[2] is None:
        return 0, width
    return int(match[3] or match[2]), int(match[2]) + 1


def bits(signal: str, widths: Mapping[str, int]) -> list[Bit]:
    """All bits of a signal, the lowest first."""
    found: list[Bit] = []
    for match in reversed(list(_TERM.finditer(signal))):
        if match[1] is not None:
            found += [(match[1], index) for index in range(*_range(match, widths[match[1]]))]
        elif match[6] is not None:
            found += [str(int(match[6]) >> index & 1) for index in range(_INTEGER_BITS)]
        else:
            found += match[5][::-1]
    return found

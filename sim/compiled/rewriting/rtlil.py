"""A flat module in Yosys's RTLIL text: its wires, cells and connections, as far as loops between words concern them.

The text is that of `write_rtlil`: one item in each line, signals with the most significant part first.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

Bit = tuple[str, int] | str
"""A wire's name and the bit's index in it, or a constant's digit."""
_REFERENCE = re.compile(r"(?<![^ ])([\\$]\S+)(?: \[(\d+)(?::(\d+))?\])?")
_TERM = re.compile(_REFERENCE.pattern + r"|(?<![^ ])(\d+)'([01xz-]*)|(?<![^ ])(-?\d+)(?![^ ])")
_SIGNALS = re.compile(r"^(  connect |    connect \S+ )(.*)$", re.MULTILINE)
_INTEGER_BITS = 32
_OUTPUTS = ("\\Y", "\\Q", "\\DATA")
"""Of Yosys's own cells; what memory takes is called so too, but has nothing behind it."""
_STATE = ("$dff", "$memwr_v2", "$meminit_v2", "$scopeinfo")


@dataclass(frozen=True)
class Cell:
    """A cell; lines are counted in the module's text, `end` is that behind it. A connection is a cell without a kind.

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
    """The texts of a design's modules, with what stands in front of each."""
    start = 0
    for match in re.finditer(r"^end\n", text, re.MULTILINE):
        yield text[start : match.end()]
        start = match.end()


def module_outputs(text: str) -> Iterator[tuple[str, frozenset[str]]]:
    """The names of a design's modules, and those of the outputs of each."""
    for part in modules(text):
        name = re.search(r"^module (\S+)$", part, re.MULTILINE)
        assert name is not None
        yield name[1], frozenset(re.findall(r"^  wire .*\boutput \d+ .*?(\S+)$", part, re.MULTILINE))


def cells(lines: Sequence[str], outputs: Mapping[str, Set[str]]) -> Iterator[Cell]:
    """The cells and connections of a module in a design of whose modules these are the outputs."""
    numbers = iter(range(len(lines)))
    for number in numbers:
        line = lines[number]
        if line.startswith("  connect "):
            left, right = _sides(line.removeprefix("  connect ").rstrip("\n"))
            yield Cell("", "", number, number + 1, {}, {"A": right}, {"Y": left})
        elif line.startswith("  cell "):
            yield _cell(lines, number, outputs)


def _cell(lines: Sequence[str], first: int, all_outputs: Mapping[str, Set[str]]) -> Cell:
    _, kind, name = lines[first].split()
    parameters: dict[str, str] = {}
    inputs: dict[str, str] = {}
    outputs: dict[str, str] = {}
    end = first + 1
    while lines[end] != "  end\n":
        word, *rest = lines[end].strip().split(" ", 2)
        if word == "parameter":
            # `signed` may stand in front of the name.
            key, value = lines[end].split()[-2:]
            parameters[key[1:]] = value
        elif word == "connect":
            port, signal = rest
            is_output = port in (all_outputs[kind] if kind in all_outputs else _OUTPUTS)
            (outputs if is_output else inputs)[port[1:]] = signal
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


def names(signal: str) -> Iterator[str]:
    """The wires that are in a signal."""
    return (match[1] for match in _REFERENCE.finditer(signal))


def slices(signal: str, widths: Mapping[str, int]) -> Iterator[tuple[str, int, int]]:
    """The slices of these wires in a signal: name, lowest bit, the bit after the highest."""
    for match in _REFERENCE.finditer(signal):
        if match[1] in widths:
            yield match[1], *_range(match, widths[match[1]])


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


def signal(parts: Iterable[Bit]) -> str:
    """The signal with these bits, the lowest first."""
    terms: list[str] = []
    run: list[tuple[str, int]] = []
    for part in parts:
        if isinstance(part, str):
            terms += [*_term(run), f"1'{part}"]
            run = []
        elif run and part == (run[-1][0], run[-1][1] + 1):
            run.append(part)
        else:
            terms += _term(run)
            run = [part]
    terms += _term(run)
    return "{ " + " ".join(reversed(terms)) + " }"


def _term(run: list[tuple[str, int]]) -> list[str]:
    return [f"{run[0][0]} [{run[-1][1]}:{run[0][1]}]"] if run else []


def replace(text: str, widths: Mapping[str, int], pieces: Mapping[str, Sequence[tuple[str, int, int]]]) -> str:
    """A module's text with some wires replaced by their slices: (name, lowest bit, the bit after the highest)."""

    def replaced(match: re.Match[str]) -> str:
        if match[1] not in pieces:
            return match[0]
        low, end = _range(match, widths[match[1]])
        terms = [
            f"{name} [{min(end, last) - 1 - first}:{max(low, first) - first}]"
            for name, first, last in reversed(pieces[match[1]])
            if first < end and low < last
        ]
        return terms[0] if len(terms) == 1 else "{ " + " ".join(terms) + " }"

    return _SIGNALS.sub(lambda match: match[1] + _REFERENCE.sub(replaced, match[2]), text)

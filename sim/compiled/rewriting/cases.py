"""Switches that have one case for each value.

The first case that fits a value is the one taken, so a later one may be written without the values of those before it;
then it does not matter in which order a tool looks at them. Where no case fits nothing is assigned, and an empty case
says so. That is added in Verilog, because Yosys leaves out what is empty.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

_ITEM = re.compile(r"^(?P<indent> +)(?:switch (?P<signal>.*)|case(?P<case>(?: \S+)*)|(?P<end>end))\n", re.MULTILINE)
_LINE = re.compile(r"^ +(?:(?P<open>case[xz]? )|(?P<default>default:)|(?P<close>endcase\n))", re.MULTILINE)
_PATTERN = re.compile(r"'([01-]+)")
_CONSTANT = re.compile(r"(?<![^ ])\d+'")
_ANY = "-"
_INVERTED = {"0": "1", "1": "0"}


@dataclass
class _Switch:
    """A switch, where it stands in the text, and its cases with their patterns, of which a default has none."""

    head: re.Match[str]
    cases: list[tuple[re.Match[str], list[str]]] = field(default_factory=list)

    @property
    def is_chain(self) -> bool:
        """Whether Yosys writes ifs: each case looks at a bit of its own, in their order, and none is a constant."""
        patterns = [pattern for _, own in self.cases for pattern in own]
        width = max(map(len, patterns), default=0)
        chain = [f"{_ANY * (width - 1 - position)}1{_ANY * position}" for position in range(width)]
        return patterns == chain and _CONSTANT.search(self.head["signal"]) is None


def with_disjoint_cases(text: str) -> str:
    """The same design in RTLIL, no two cases of a switch with a value in common, but where Yosys writes ifs."""
    edits = [edit for switch in _switches(text) if not switch.is_chain for edit in _edits(switch)]
    texts, start = [], 0
    for line, new in sorted(edits, key=lambda edit: edit[0].start()):
        texts += [text[start : line.start()], line["indent"], new, "\n"]
        start = line.end()
    return "".join([*texts, text[start:]])


def _switches(text: str) -> Iterator[_Switch]:
    opened: list[_Switch] = []
    for item in _ITEM.finditer(text):
        if item["signal"] is not None:
            opened.append(_Switch(item))
        elif item["case"] is not None:
            opened[-1].cases.append((item, _PATTERN.findall(item["case"])))
        elif opened and opened[-1].head["indent"] == item["indent"]:
            yield opened.pop()


def _edits(switch: _Switch) -> Iterator[tuple[re.Match[str], str]]:
    """Lines of a switch, and what is to stand there."""
    taken: list[str] = []
    for line, own in switch.cases:
        remaining = [each for pattern in own for each in without(pattern, taken)]
        taken += own
        # If nothing is left no value gets here, as with the patterns that it had.
        if remaining and remaining != own:
            yield line, f"case {', '.join(map(_number, remaining))}"


def _number(pattern: str) -> str:
    return f"{len(pattern)}'{pattern}"


def without(pattern: str, others: Sequence[str]) -> list[str]:
    """Patterns that have no value in common, for the values of one that are those of no other."""
    remaining = [pattern]
    for other in others:
        remaining = [each for given in remaining for each in _difference(given, other)]
    return remaining


def _difference(pattern: str, other: str) -> Iterator[str]:
    """The values of one pattern that are not those of another."""
    pairs = list(zip(pattern, other, strict=True))
    if any(_ANY not in pair and pair[0] != pair[1] for pair in pairs):
        yield pattern
        return
    head = pattern
    for position, (own, bit) in enumerate(pairs):
        if own == _ANY != bit:
            yield f"{head[:position]}{_INVERTED[bit]}{head[position + 1 :]}"
            head = f"{head[:position]}{bit}{head[position + 1 :]}"


def with_defaults(verilog: str) -> str:
    """The same Verilog, with an empty case for the values that have none."""
    have_default: list[bool] = []

    def line(match: re.Match[str]) -> str:
        if match["open"]:
            have_default.append(False)
        elif match["default"]:
            have_default[-1] = True
        elif not have_default.pop():
            indent = match[0].removesuffix("endcase\n")
            return f"{indent}  default: ;\n{match[0]}"
        return match[0]

    return _LINE.sub(line, verilog)

"""Debug information of a module: which line of the source an instruction comes from."""

import re
from collections.abc import Iterable

from ctm.sim.compiler.error import Location

_NODE = re.compile(r"^!(\d+) = (?:distinct )?!(DI\w+)\((.*)\)$")
_LIST = re.compile(r"^!(\d+) = (?:distinct )?!\{(.*)\}$")
_ENTRY = re.compile(r"!(\d+)")
_FIELD = re.compile(r'(\w+): (?:!(\d+)|"((?:[^"\\]|\\.)*)"|(-?\w+))')

_Node = dict[str, int | str]
"""Fields by name; a reference to another node is its number."""


class Metadata:
    """The nodes of a module's metadata that locations need."""

    def __init__(self, lines: Iterable[str]) -> None:
        lines = [line for line in lines if line.startswith("!")]
        found = (_NODE.match(line) for line in lines)
        self._nodes: dict[int, _Node] = {int(match[1]): _fields(match[3]) for match in found if match}
        listed = (_LIST.match(line) for line in lines)
        self._lists = {int(match[1]): [int(each) for each in _ENTRY.findall(match[2])] for match in listed if match}

    def location(self, number: int) -> Location | None:
        """The location that a node describes; for an inlined call the one in the callee."""
        node = self._nodes.get(number, {})
        line, column = node.get("line"), node.get("column", 0)
        file = self._file(node)
        if not isinstance(line, int) or not isinstance(column, int) or file is None or not line:
            return None
        return Location(file, line, column)

    def file(self, number: int) -> str | None:
        """The file of a node."""
        return self._file(self._nodes.get(number, {}))

    def first_location(self, number: int) -> Location | None:
        """The first location of a node that lists others, as those of loops do."""
        return next(filter(None, map(self.location, self._lists.get(number, ()))), None)

    def _file(self, node: _Node) -> str | None:
        """The file's name; of scopes within scopes the innermost that has one."""
        while node:
            reference = node.get("file", node.get("scope"))
            if "filename" in node:
                return str(node["filename"])
            node = self._nodes.get(reference, {}) if isinstance(reference, int) else {}
        return None


def _fields(text: str) -> _Node:
    fields: _Node = {}
    for name, reference, string, word in _FIELD.findall(text):
        if reference:
            fields[name] = int(reference)
        elif word.lstrip("-").isdigit():
            fields[name] = int(word)
        else:
            fields[name] = word or re.sub(r"\\([0-9A-Fa-f]{2})", lambda code: chr(int(code[1], 16)), string)
    return fields

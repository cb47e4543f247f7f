"""Modules that are the same hardware become one module.

Amaranth writes a module for each instance, some names of its own and an order of ports of its own included. What is
left here of several that differ in these only is one, so that it has to be translated once. Those that are worth a call
are marked `keep_hierarchy`.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

_MODULE = re.compile(r"^module (\S+)\n(.*?)^end\n", re.MULTILINE | re.DOTALL)
_CELL = re.compile(r"^  cell (\\\S+) (\S+)\n(.*?)^  end\n", re.MULTILINE | re.DOTALL)
_OPERATION = re.compile(r"^  (?:cell \$|process )", re.MULTILINE)
_CONNECTION = re.compile(r"^    connect (\S+) ", re.MULTILINE)
_DECLARATION = re.compile(r"^  wire .*(\\port\$\S+)$", re.MULTILINE)
"""A wire that Amaranth has named by itself, by its number in the whole design."""
_PORT = re.compile(r"^((?:  attribute .*\n)*  wire .*(?:input|output) )\d+( .*)\n\n?", re.MULTILINE)
"""A port, whose number says nothing as long as ports are connected by their names."""
_OWN_NAME = re.compile(r"\\port\$\S+")
_ATTRIBUTE = re.compile(r"^ *attribute \\(?:src|top|generator|enum_\S+) .*\n", re.MULTILINE)
KEPT = "attribute \\keep_hierarchy 1\n"
"""What stands in front of a module that is to be kept as one."""
_LEAST_OPERATIONS = 40
"""From how many on a call is cheaper than one more copy of the code."""


@dataclass(frozen=True)
class _Module:
    """A module; `operations` are those of the modules in it too, `inside` says how often each of them is."""

    text: str
    operations: int
    inside: Mapping[str, int]


def merge(text: str, top: str) -> str:
    """RTLIL with each module once; those that it only instantiates are written elsewhere."""
    merged = _Merger({match[1]: match[2] for match in _MODULE.finditer(text)})
    root = merged.add(f"\\{top}")
    counts = Counter({root: 1})
    for name, module in reversed(merged.modules.items()):
        for inner, count in module.inside.items():
            counts[inner] += count * counts[name]
    texts = []
    for name, module in merged.modules.items():
        is_kept = counts[name] > 1 and module.operations >= _LEAST_OPERATIONS
        texts.append(f"{KEPT if is_kept else ''}module {name}\n{module.text}end\n")
    return "".join(texts)


class _Merger:
    """Modules as they are found to be different, those inside of a module in front of it."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        self._names: dict[str, str] = {}
        self._by_text: dict[str, str] = {}
        self._ports: dict[str, Mapping[str, str]] = {}
        self.modules: dict[str, _Module] = {}

    def add(self, name: str) -> str:
        """The module that stands for this one."""
        if name in self._names:
            return self._names[name]
        if name not in self._texts:
            return name
        inside: Counter[str] = Counter()

        def placed(match: re.Match[str]) -> str:
            inner = self.add(match[1])
            if inner in self.modules:
                inside[inner] += 1
            ports = self._ports.get(match[1], {})
            connections = _CONNECTION.sub(lambda port: f"    connect {ports.get(port[1], port[1])} ", match[3])
            return f"  cell {inner} {match[2]}\n{connections}  end\n"

        text = _ATTRIBUTE.sub("", self._texts[name])
        own = {found: f"\\port@{number}" for number, found in enumerate(_DECLARATION.findall(text))}
        self._ports[name] = own
        text = _OWN_NAME.sub(lambda match: own[match[0]], _CELL.sub(placed, text))
        text = _in_order(text)
        first = self._names[name] = self._by_text.setdefault(text, name)
        if first == name:
            operations = len(_OPERATION.findall(text))
            operations += sum(self.modules[inner].operations * count for inner, count in inside.items())
            self.modules[name] = _Module(text, operations, inside)
        return first


def _in_order(text: str) -> str:
    """A module with its ports in the order of their names."""
    ports = sorted(_PORT.findall(text), key=lambda port: port[1])
    return "".join(f"{head}{number}{tail}\n" for number, (head, tail) in enumerate(ports)) + _PORT.sub("", text)

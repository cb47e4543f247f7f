"""What the signals of a design are called in a wave, and what their bits mean, from its RTLIL.

Amaranth writes a field of a signal as a wire of its own, ``signal.field[0]``, and the names of an enumeration as
attributes of a wire. A model need not compute the fields: the writer of a wave takes them out of the signal.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

_MODULE = re.compile(r"^module \\(\S+)\n(.*?)^end\n", re.MULTILINE | re.DOTALL)
_WIRE = re.compile(r"^((?:  attribute .*\n)*)  wire (?:width (\d+) )?.*?\\(\S+)\n", re.MULTILINE)
_CELL = re.compile(r"^  cell \\(\S+) \\(\S+)\n", re.MULTILINE)
_CONNECTION = re.compile(r"^connect \\(\S+) ([\\$]\S+)(?: \[(\d+)(?::(\d+))?\])?\n", re.MULTILINE)
_ENUMERATION = re.compile(r'\\enum_base_type "([^"]*)"')
_MEMBER = re.compile(r'\\enum_value_([01]+) "([^"]*)"')
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+)\]")
_NUMBER = re.compile(r"\$\d+$")
"""What Amaranth appends to a name that is taken."""
_FIELD_WIRES = re.compile(r"^(?:  attribute .*\n)*  wire .*\\[^\s.\[]+[.\[]\S*\n\n?", re.MULTILINE)
_FIELD_CONNECTIONS = re.compile(r"^connect \\[^\s.\[]+[.\[]\S* .*\n", re.MULTILINE)
_LINES = {"enumeration": "E {} {} {}", "module": "M {}", "instance": "I {} {} {}", "signal": "S {} {} {}",
          "leaf": "L {} {} {} {}"}  # fmt: skip
NO_ENUMERATION = -1


class Enumeration(NamedTuple):
    """Names of values, which are texts of bits."""

    name: str
    members: tuple[tuple[str, str], ...]


class Leaf(NamedTuple):
    """Bits of a signal with a meaning of their own; `path` is that of a field, "" for the whole."""

    path: str
    lowest: int
    width: int
    enumeration: int


@dataclass
class Names:
    """Of each module the signals, with their leaves, and the instances, with their modules."""

    enumerations: dict[Enumeration, int] = field(default_factory=dict)
    signals: dict[str, dict[str, tuple[str, list[Leaf]]]] = field(default_factory=dict)
    instances: dict[str, dict[str, tuple[str, str]]] = field(default_factory=dict)

    def text(self) -> str:
        """As `writer.h` reads it: a line for each thing, words apart by spaces."""
        lines = []
        for enumeration, number in self.enumerations.items():
            lines.append(_LINES["enumeration"].format(number, enumeration.name, len(enumeration.members)))
            lines.extend(f"V {value} {name}" for value, name in enumeration.members)
        for module, signals in self.signals.items():
            lines.append(_LINES["module"].format(module))
            for instance, (shown, of) in self.instances[module].items():
                lines.append(_LINES["instance"].format(instance, shown, of))
            for signal, (shown, leaves) in signals.items():
                lines.append(_LINES["signal"].format(signal, shown, len(leaves)))
                lines.extend(_LINES["leaf"].format(leaf.path or ".", *leaf[1:]) for leaf in leaves)
        return "\n".join(lines) + "\n"


def names(rtlil: str) -> Names:
    """The names in a design."""
    found = Names()
    for module in _MODULE.finditer(rtlil):
        name, text = module.groups()
        wires = {match[3]: _Wire(int(match[2] or 1), _enumeration(found, match[1])) for match in _WIRE.finditer(text)}
        connections = {match[1]: _Slice(match[2], int(match[4] or match[3] or 0))
                       for match in _CONNECTION.finditer(text)}  # fmt: skip
        fields = _fields(wires)
        own = [wire for wire in wires if _is_signal(wire)]
        found.signals[name] = {
            wire: (shown, _leaves(wire, wires, connections, fields.get(wire, [])))
            for wire, shown in _unnumbered(own).items()
        }
        instances = {match[2]: match[1] for match in _CELL.finditer(text)}
        found.instances[name] = {
            instance: (shown, instances[instance]) for instance, shown in _unnumbered(list(instances)).items()
        }
    return found


def without_fields(rtlil: str) -> str:
    """The same design without wires for fields."""
    return _FIELD_CONNECTIONS.sub("", _FIELD_WIRES.sub("", rtlil))


class _Wire(NamedTuple):
    width: int
    enumeration: int


class _Slice(NamedTuple):
    """Bits of a wire, from `lowest` on."""

    wire: str
    lowest: int


def _enumeration(found: Names, attributes: str) -> int:
    name = _ENUMERATION.search(attributes)
    if name is None:
        return NO_ENUMERATION
    members = tuple((match[1], match[2].replace(" ", "_")) for match in _MEMBER.finditer(attributes))
    enumeration = Enumeration(name[1].replace(" ", "_") or "enumeration", members)
    return found.enumerations.setdefault(enumeration, len(found.enumerations))


def _is_signal(wire: str) -> bool:
    """Whether the sources name it, and it is no field."""
    return not wire.startswith(("$", "port$")) and not re.search(r"[.\[]", wire)


def _fields(wires: Mapping[str, _Wire]) -> dict[str, list[str]]:
    """The fields of each signal, as paths, outer ones first."""
    found: dict[str, list[str]] = {}
    for wire in wires:
        match = re.search(r"[.\[]", wire)
        if match:
            found.setdefault(wire[: match.start()], []).append(wire[match.start() :])
    return found


def _unnumbered(names_: list[str]) -> dict[str, str]:
    """Names without Amaranth's number where that leaves them apart."""
    taken = set(names_)
    shown = {}
    for name in names_:
        plain = _NUMBER.sub("", name)
        if plain not in taken:
            taken.add(plain)
            shown[name] = plain
        else:
            shown[name] = name
    return shown


def _leaves(signal: str, wires: Mapping[str, _Wire], connections: Mapping[str, _Slice], paths: list[str]) -> list[Leaf]:
    """The innermost fields; nothing if there are none, or not all of them are bits of the signal."""
    whole = wires[signal]
    leaves: list[Leaf] = []
    for path in _innermost(paths, {path: wires[signal + path].width for path in paths}):
        wire = wires[signal + path]
        lowest = _lowest(signal, connections.get(signal + path), connections.get(signal))
        if not wire.width:
            continue
        if lowest is None or not 0 <= lowest <= whole.width - wire.width:
            leaves = []
            break
        leaves.append(Leaf(_plain(path), lowest, wire.width, wire.enumeration))
    if not leaves and whole.enumeration != NO_ENUMERATION:
        return [Leaf("", 0, whole.width, whole.enumeration)]
    return leaves


def _innermost(paths: list[str], widths: Mapping[str, int]) -> Iterator[str]:
    """Fields without fields; an array of single bits counts as one."""
    bits = {path[: path.rindex("[")] for path in paths if path.endswith("]") and widths[path] == 1} & set(paths)
    within = tuple(f"{path}[" for path in bits)
    kept = [path for path in paths if not (within and path.startswith(within))]
    outer = {path[: match.start()] for path in kept for match in _STEP.finditer(path)}
    return (path for path in kept if path not in outer)


def _lowest(signal: str, of_field: _Slice | None, of_signal: _Slice | None) -> int | None:
    """Where in a signal a field begins."""
    if of_field is None:
        return None
    if of_field.wire == f"\\{signal}":
        return of_field.lowest
    if of_signal is not None and of_field.wire == of_signal.wire:
        return of_field.lowest - of_signal.lowest
    return None


def _plain(path: str) -> str:
    """A path with dots between its steps; elements of arrays are written as Amaranth writes those of interfaces."""
    text = "".join(f".{match[1]}" if match[1] else f"__{match[2]}" for match in _STEP.finditer(path))
    return text.removeprefix(".")

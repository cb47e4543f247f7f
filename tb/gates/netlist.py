"""A netlist of an FPGA's cells as Verilog, as Yosys writes it in JSON."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ctm.sim.synthesis.families.netlist import nets

VECTORS = {"DP16KD": ("CSA", "CSB", "ADA", "ADB", "DIA", "DIB", "DOA", "DOB"), "MULT18X18D": ("A", "B", "C", "P")}
"""Numbered pins that are a vector in the models of `cells.v`."""
MODES = {
    "DP16KD": {
        "REGMODE_A": "NOREG", "REGMODE_B": "NOREG", "CLKAMUX": "CLKA", "CLKBMUX": "CLKB",
        "CSDECODE_A": "0b000", "CSDECODE_B": "0b000",
    },
    "MULT18X18D": {},
}  # fmt: skip
"""What those models take for granted."""
LOW = {"MULT18X18D": ("SOURCEA", "SOURCEB"), "DP16KD": ("RSTA", "RSTB")}
"""Pins that they do not look at, and take to be 0."""
INPUTS = {
    "LUT4": ("INIT",), "CARRY": ("INIT", "INJECT1"), "CCU2C": ("INIT0", "INIT1", "INJECT1_0", "INJECT1_1"),
}  # fmt: skip
"""Parameters that are inputs of those models; a text is whether it is YES."""
IGNORED = {"DP16KD": ("RESETMODE", "ASYNC_RESET_RELEASE", "GSR")}
"""Without a reset these say nothing."""
_NUMBERED = re.compile(r"(\D+)(\d+)")
_BITS = re.compile(r"[01]+")
_NOTES = "$scopeinfo"

Bits = Sequence[int | str]


def verilog(modules: Mapping[str, Mapping[str, Any]]) -> str:
    """Modules of a linked netlist. What is open or unknown is 1, as pins of an ECP5 are that nothing drives."""
    return "".join(_Module(name, module).text for name, module in modules.items())


class _Module:
    """A module's text. A net at a port of both directions is called as the port is, all others by their numbers."""

    def __init__(self, name: str, module: Mapping[str, Any]) -> None:
        both = {key: port["bits"] for key, port in module["ports"].items() if port["direction"] == "inout"}
        self._nets = {number: f"n{number}" for number in sorted(nets(module))}
        # One wire for each bit: a vector of all would be one variable, each bit of which depends on the others.
        wires = ",\n".join(self._nets.values())
        for key, bits in both.items():
            self._nets |= {bit: f"{_name(key)}[{index}]" for index, bit in enumerate(bits)}
        ports = [
            f"{port['direction']} [{len(port['bits']) - 1}:0] {_name(key)}" for key, port in module["ports"].items()
        ]
        lines = [f"module {_name(name)}({', '.join(ports)});", f"wire {wires};"]
        for key, port in module["ports"].items():
            ends = (_name(key), self._joined(port["bits"]))
            if key not in both:
                lines.append("assign {} = {};".format(*(ends if port["direction"] == "output" else reversed(ends))))
        for number, cell in enumerate(module["cells"].values()):
            if cell["type"] != _NOTES:
                lines.append(self._cell(f"c{number}", cell))
        self.text = "\n".join([*lines, "endmodule\n"])

    def _cell(self, name: str, cell: Mapping[str, Any]) -> str:
        kind, parameters = cell["type"], dict(cell["parameters"])
        pins: dict[str, Bits] = dict(cell["connections"])
        if kind in VECTORS:
            pins = _vectors(kind, pins)
            parameters = _checked(kind, parameters)
        for key in INPUTS.get(kind, ()):
            pins[key] = _bits(parameters.pop(key))
        given = ", ".join(f".{key}({_value(value)})" for key, value in parameters.items())
        # Verilator takes lines of 40,000 characters and no more.
        connected = ",\n".join(f".{_name(key)}({self._joined(bits)})" for key, bits in pins.items())
        return f"{_name(kind)} {f'#({given}) ' if given else ''}{name}({connected});"

    def _joined(self, bits: Bits) -> str:
        nets = list(self._nets_of(bits))
        return nets[0] if len(nets) == 1 else f"{{{', '.join(nets)}}}"

    def _nets_of(self, bits: Bits) -> Iterator[str]:
        for bit in reversed(bits):
            yield self._nets[bit] if isinstance(bit, int) else "1'b0" if bit == "0" else "1'b1"


def _vectors(kind: str, pins: Mapping[str, Bits]) -> dict[str, Bits]:
    found: dict[str, Bits] = {}
    assert all(bit == "0" for pin in LOW[kind] for bit in pins.get(pin, ())), f"a {kind} that is not modelled"
    vectors: defaultdict[str, dict[int, Bits]] = defaultdict(dict)
    for key, bits in pins.items():
        numbered = _NUMBERED.fullmatch(key)
        if numbered is not None and numbered[1] in VECTORS[kind]:
            vectors[numbered[1]][int(numbered[2])] = bits
        else:
            found[key] = bits
    for key, numbers in vectors.items():
        found[key] = [numbers.get(number, ["0"])[0] for number in range(max(numbers) + 1)]
    return found


def _checked(kind: str, parameters: dict[str, str]) -> dict[str, str]:
    """The parameters of a cell's model; those that it does not have are as it takes them to be."""
    initial = [parameters.pop(key) for key in sorted(parameters) if key.startswith("INITVAL_")]
    for key, value in MODES[kind].items():
        assert parameters.pop(key, value) == value, f"a {kind} whose {key} is not {value}"
    for key in IGNORED.get(kind, ()):
        parameters.pop(key, None)
    return parameters | ({"INITVAL": "".join(reversed(initial))} if initial else {})


def _bits(value: str) -> Bits:
    return value[::-1] if _BITS.fullmatch(value) else str(int(value == "YES"))


def _value(value: str) -> str:
    # Yosys puts a space after text and looks like bits.
    known = value.replace("x", "0")
    return f"{len(value)}'h{int(known, 2):x}" if _BITS.fullmatch(known) else f'"{value.rstrip()}"'


def _name(name: str) -> str:
    return f"\\{name} "

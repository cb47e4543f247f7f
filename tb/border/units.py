"""The units of a machine that stand at a declared border, and their ports there."""

import importlib
import inspect
import itertools
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from amaranth.hdl import Const, Fragment, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import Flow

from ctm import rtl
from ctm.rtl.border.interface import Interface
from ctm.rtl.config import DRAW_PRESET, PRESETS, ArrayConfig, MachineConfig
from ctm.rtl.ctm import Ctm
from ctm.rtl.isa.executable import ProgramFormat
from ctm.rtl.isa.program_formats import PROGRAM_FORMATS
from ctm.rtl.r700.partition import Partition
from ctm.sim.compiled.verilog import without_collection
from ctm.tb.border.dependence import Dependence

_BORDER = "border"
"""How packages are called that declare borders, wherever in `rtl` they are."""
Fields = frozenset[str]


@dataclass(frozen=True, order=True)
class Pair:
    """An output port of a unit that follows from an input port in the same cycle; `unit` is the name of its class."""

    unit: str
    input: str
    output: str


def combinational_pairs(config: MachineConfig) -> set[Pair]:
    """All such pairs of ports at declared borders, of all units of a machine."""
    with without_collection():
        return pairs_of(Ctm(config))


def pairs_of(top: wiring.Component) -> set[Pair]:
    """All such pairs of a design."""
    fragment = Fragment.get(top, None)
    dependence = Dependence(fragment)
    return {
        pair for inner in _fragments(fragment) for unit in _units(inner) for pair in _pairs(unit, inner, dependence)
    }


def border_ports(unit: wiring.Component) -> tuple[dict[str, Value], dict[str, Value]]:
    """The input ports and the output ports of a unit at declared borders, by name as in Verilog."""
    inputs: dict[str, Value] = {}
    outputs: dict[str, Value] = {}
    at_border = set(_at_border(unit.signature, ()))
    for path, member, value in unit.signature.flatten(unit):
        cast = Value.cast(value)
        if not isinstance(cast, Const) and any(path[: len(start)] == start for start in at_border):
            (inputs if member.flow is Flow.In else outputs)["__".join(map(str, path))] = cast
    return inputs, outputs


def _fragments(fragment: Fragment) -> Iterator[Fragment]:
    yield fragment
    for inner, _, _ in fragment.subfragments:
        yield from _fragments(inner)


def _units(fragment: Fragment) -> Iterator[wiring.Component]:
    """The components that a fragment was made of."""
    yield from (origin for origin in fragment.origins or () if isinstance(origin, wiring.Component))


def _pairs(unit: wiring.Component, fragment: Fragment, dependence: Dependence) -> Iterator[Pair]:
    inputs, outputs = border_ports(unit)
    masks = {bit: 1 << number for number, value in enumerate(inputs.values()) for bit in _bits(value, dependence)}
    bits = {name: _bits(value, dependence) for name, value in outputs.items()}
    wanted = tuple(itertools.chain.from_iterable(bits.values()))
    found = dependence.reached(wanted, masks, dependence.numbers[id(fragment)]) if inputs else {}
    for output, own in bits.items():
        mask = 0
        for bit in own:
            mask |= found.get(bit, 0)
        for number, name in enumerate(inputs):
            if mask >> number & 1:
                yield Pair(type(unit).__name__, name, output)


def _bits(value: Value, dependence: Dependence) -> range:
    assert isinstance(value, Signal)
    return dependence.bits(value)


def _at_border(signature: Any, path: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    """The paths of members that are declared borders."""
    for name, member in signature.members.items():
        own = (*path, name)
        for index in itertools.product(*map(range, member.dimensions)):
            if not member.is_signature:
                if _is_declared(member.shape):
                    yield own + index
                continue
            inner = member.signature
            declared = inner.flip() if isinstance(inner, wiring.FlippedSignature) else inner
            if isinstance(declared, Interface) or f".{_BORDER}." in type(declared).__module__:
                yield own + index
            elif isinstance(declared, stream.Signature):
                if _is_declared(declared.members["payload"].shape):
                    yield own + index
            else:
                yield from _at_border(inner, own + index)


def _is_declared(shape: Any) -> bool:
    return isinstance(shape, data.StructLayout) and frozenset(shape.members) in declared_fields()


@cache
def declared_fields() -> frozenset[Fields]:
    """The names of the fields of each layout that a border declares."""
    found: set[Fields] = set()
    for module in _modules():
        for name, value in vars(module).items():
            if name.endswith("_layout") and inspect.isfunction(value):
                layouts = [value(**arguments) for arguments in _arguments(value)]
            else:
                layouts = [value]
            found |= {frozenset(layout.members) for layout in layouts if isinstance(layout, data.StructLayout)}
    return frozenset(found)


def _modules() -> Iterator[ModuleType]:
    """The modules that declare borders."""
    (top,) = map(Path, rtl.__path__)
    for package in sorted(top.rglob(f"{_BORDER}/__init__.py")):
        name = ".".join((rtl.__name__, *package.parent.relative_to(top).parts))
        for each in pkgutil.iter_modules([str(package.parent)]):
            yield importlib.import_module(f"{name}.{each.name}")


def _arguments(function: Any) -> Iterator[dict[str, Any]]:
    """Arguments of a function that makes layouts; a number that may be left out may add a field."""
    machine = PRESETS[DRAW_PRESET]
    samples = {
        int: (2,), ProgramFormat: (PROGRAM_FORMATS["r5xx"],), MachineConfig: (machine,), ArrayConfig: (machine.array,),
        Partition: (Partition.of(machine.array),),
    }  # fmt: skip
    parameters = inspect.signature(function).parameters
    choices = []
    for parameter in parameters.values():
        default = () if parameter.default is parameter.empty else (parameter.default,)
        choices.append((*samples.get(parameter.annotation, (1,)), *default))
    yield from (dict(zip(parameters, chosen, strict=True)) for chosen in itertools.product(*choices))

"""The C++ view of a core: its ports, and where the fields of its payloads are, from the layouts themselves."""

from collections.abc import Iterable, Iterator

from amaranth.lib import data, enum

from ctm.rtl.border.clients import BEAT_WORDS, LINE_BEATS, ConstantBank
from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.core_border import core_members
from ctm.rtl.isa.conditional import ConditionalTest
from ctm.rtl.isa.r5xx.limits import INSTRUCTION_WORDS
from ctm.rtl.isa.status import BusClient
from ctm.rtl.r5xx.shapes import PROGRAM, SHAPES
from ctm.rtl.r5xx.trace import trace_layout
from ctm.sim.compiled.numbered import port_name
from ctm.sim.compiled.verilog import Port

_CODES = (BusClient, ConditionalTest, ConstantBank)
_SINGLES = {
    "program": "program__settings",
    "invalidate_code": "program__invalidate_code",
    "invalidate_constants": "program__invalidate_constants",
    "idle": "idle",
    "issued": "activity__issued",
}
"""Ports that are no streams by their names here."""

Field = tuple[str, int, int]
"""Name, offset and width of an element."""


def streams(config: ArrayConfig) -> dict[str, tuple[str, data.StructLayout]]:
    """The streams at a core's border by their names here: the names of their ports, and their payloads."""
    found = {}
    for name, member in core_members(config, SHAPES).items():
        if not member.is_signature:
            continue
        members = {"": member} if "payload" in member.signature.members else dict(member.signature.members.items())
        for stream_name, inner in members.items():
            path = (name, stream_name) if stream_name else (name,)
            if inner.is_signature:
                found["_".join(path)] = "__".join(path), inner.signature.members["payload"].shape
    return found


def fields(layout: data.StructLayout, prefix: str = "") -> Iterator[Field]:
    """The fields of a layout by name, those of nested ones as ``outer_inner``; of an array, its first number."""
    for name, field in layout:
        shape, width = field.shape, field.width
        if isinstance(shape, data.StructLayout):
            for inner, offset, inner_width in fields(shape, f"{prefix}{name}_"):
                yield inner, field.offset + offset, inner_width
            continue
        while isinstance(shape, data.ArrayLayout):
            width //= shape.length
            shape = shape.elem_shape
        yield f"{prefix}{name}", field.offset, width


def port_declarations(listed: list[Port], config: ArrayConfig) -> str:
    """C++ for the ports of a core, whose numbers are their indices in `listed`."""
    numbers = {port.name: number for number, port in enumerate(listed)}
    lines = ['#include "Vcore.h"', "#include <cstdint>", "#include <cstddef>", "namespace {"]
    lines += ["struct Field { unsigned offset, width; };"]
    sizes = {
        "LANES": config.lanes, "AT_ONCE": config.at_once, "THREADS": config.threads,
        "INSTRUCTION_WORDS": INSTRUCTION_WORDS, "BEAT_WORDS": BEAT_WORDS, "LINE_BEATS": LINE_BEATS,
    }  # fmt: skip
    lines += [f"constexpr unsigned {name} = {value};" for name, value in sizes.items()]
    lines += [_codes(codes) for codes in _CODES]
    lines += [
        _struct(
            name,
            layout.size,
            _with_beat(list(fields(layout))),
            {end: numbers.get(f"{port}__{end}") for end in ("payload", "valid", "ready")},
        )
        for name, (port, layout) in streams(config).items()
    ]
    lines += [_struct("program", PROGRAM.size, (), {}), _trace(config, numbers["trace"])]
    accessors = " ".join(_accessor(name, numbers[port]) for name, port in _SINGLES.items())
    return "\n".join([*lines, f"struct Ports {{ {accessors} }};", "}", ""])


def _with_beat(listed: list[Field]) -> list[Field]:
    """A fetch's tag has the number of a beat: of no bits where a wavefront has one beat only."""
    names = {name for name, *_ in listed}
    return [*listed, ("tag_beat", 0, 0)] if "tag_entry" in names and "tag_beat" not in names else listed


def _codes(codes: type[enum.Enum]) -> str:
    values = " ".join(f"constexpr std::uint32_t {code.name} = {code.value};" for code in codes)
    return f"namespace {codes.__name__} {{ {values} }}"


def _struct(name: str, width: int, listed: Iterable[Field], ports: dict[str, int | None]) -> str:
    members = [f'static constexpr const char* NAME = "{name}";', f"static constexpr unsigned WIDTH = {width};"]
    members += [f"static constexpr Field {field}{{{offset}, {width}}};" for field, offset, width in listed]
    members += [_accessor(end, number) for end, number in ports.items() if number is not None]
    return f"struct {name.title().replace('_', '')} {{ {' '.join(members)} }};"


def _trace(config: ArrayConfig, number: int) -> str:
    layout = trace_layout(config)
    events = [f"{{{field.offset + field.shape['valid'].offset}, {field.offset}, {field.width}}}" for _, field in layout]
    return (
        f"struct Trace {{ struct Event {{ unsigned valid, offset, width; }}; "
        f"static constexpr unsigned WIDTH = {layout.size}; "
        f"static constexpr Event EVENTS[] = {{{', '.join(events)}}}; {_accessor('payload', number)} }};"
    )


def _accessor(name: str, number: int) -> str:
    return f"static auto& {name}(Vcore& model) {{ return model.{port_name(number)}; }}"

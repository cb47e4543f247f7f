"""The host interface as a C header."""

from collections.abc import Iterator

from ctm.rtl.isa.host import (
    COUNTERS,
    COUNTERS_OFFSET,
    DRAW_COUNTERS,
    DRAW_COUNTERS_OFFSET,
    IDENTITY,
    QUEUE_DEPTH,
    REGISTER_SPACE,
    REGISTERS,
    VERSION,
)
from ctm.rtl.isa.status import STATUS_TEXT, BusClient, Status
from ctm.rtl.isa.word import fields

_COUNTER_BYTES = 4
_IDLE_FIELDS = ("reserved", "unused", "value")


def c_header() -> str:
    """Offsets of the registers, masks and shifts of their fields, status codes; every name begins with CTM_."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "/* Registers of the CTM machine, 32 bits each, on its AXI4-Lite port. Generated; do not edit. */"
    yield "#ifndef CTM_H"
    yield "#define CTM_H"
    yield ""
    yield _define("REGISTER_SPACE", f"0x{REGISTER_SPACE:x}")
    yield _define("IDENTITY", f"0x{IDENTITY:08x}u")
    yield _define("MAP_VERSION", str(VERSION))
    yield _define("QUEUE_ENTRIES", str(QUEUE_DEPTH))
    for register in REGISTERS:
        yield ""
        yield f"/* {register.access}: {register.text} */"
        yield _define(register.name, f"0x{register.offset:03x}")
        for name, offset, width in fields(register.layout):
            if name not in _IDLE_FIELDS:
                field = f"{register.name}_{name.upper()}"
                yield _define(f"{field}_SHIFT", str(offset))
                yield _define(f"{field}_MASK", f"0x{((1 << width) - 1) << offset:08x}u")
    yield ""
    yield "/* Counters, ro: 32 bits, they wrap; a reset makes them 0. */"
    for index, (name, text) in enumerate(COUNTERS.items()):
        yield f"{_define(f'COUNTER_{name}', f'0x{COUNTERS_OFFSET + _COUNTER_BYTES * index:03x}')} /* {text} */"
    yield "/* Counters of draws, of hardware that draws; elsewhere they read 0. */"
    for index, (name, text) in enumerate(DRAW_COUNTERS.items()):
        yield f"{_define(f'COUNTER_{name}', f'0x{DRAW_COUNTERS_OFFSET + _COUNTER_BYTES * index:03x}')} /* {text} */"
    yield ""
    yield "/* STATUS_CODE */"
    for status in Status:
        yield f"{_define(f'CODE_{status.name}', str(status.value))} /* {STATUS_TEXT[status]} */"
    yield ""
    yield "/* ERROR_CLIENT_CLIENT */"
    for client in BusClient:
        yield _define(f"CLIENT_{client.name}", str(client.value))
    yield ""
    yield "#endif"


def _define(name: str, value: str) -> str:
    return f"#define CTM_{name} {value}"

"""Amaranth components as Verilog, which is to say the part of SystemVerilog that Yosys writes."""

import gc
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from amaranth import ClockDomain, Const, Value
from amaranth.back import rtlil
from amaranth.hdl import ValueCastable
from amaranth.lib import wiring
from amaranth.lib.wiring import Flow

from ctm.sim.compiled.rewriting.selections import with_selections
from ctm.sim.compiled.rewriting.strobes import with_strobes_together
from ctm.sim.compiled.tools.yosys import yosys


@dataclass(frozen=True, eq=False)
class Port:
    """A port of a component; `value` is its bits, whatever its shape says of them."""

    name: str
    value: Value
    is_input: bool

    @property
    def width(self) -> int:
        """Number of bits."""
        return len(self.value)


def ports(component: wiring.Component) -> Iterator[Port]:
    """The ports of a component, those of nested interfaces as ``interface__member``, in the signature's order.

    The constants of a stream that is always valid or always ready are no ports.
    """
    for path, member, value in component.signature.flatten(component):
        if isinstance(value, ValueCastable):
            value = Value.cast(value)
        if not isinstance(value, Value):
            raise TypeError(f"{'__'.join(map(str, path))} is no port of bits, but {value!r}")
        if not isinstance(value, Const):
            yield Port("__".join(map(str, path)), value, member.flow == Flow.In)


def convert(component: wiring.Component, *, top: str) -> str:
    """A component as SystemVerilog, without places in sources, so that the same hardware is always the same text.

    Ports are those of `ports`, and `clk` and `rst` if the component uses the domain "sync" and does not make it.

    Raises
    ------
    ToolchainError
        Yosys, which writes the Verilog, is missing or failed.
    DomainError
        The component uses another domain that it does not make.
    """
    return _written(convert_to_rtlil(component, top=top), *_NO_ATTRIBUTES, _WRITE)


def convert_to_rtlil(component: wiring.Component, *, top: str, platform: object = None) -> str:
    """A component as RTLIL, the text form of Yosys's own netlists; ports are those of `convert`."""
    with without_collection():
        text: str = rtlil.convert(
            component,
            name=top,
            platform=platform,
            ports=[port.value for port in ports(component)],
            emit_src=False,
            missing_domain=only_sync,
        )
    return text


def from_rtlil(text: str) -> str:
    """RTLIL as SystemVerilog.

    Raises
    ------
    ToolchainError
        Yosys is missing or failed.
    """
    return _written(text, f"{_WRITE} -noattr")


def _written(text: str, *commands: str) -> str:
    """What Yosys writes of RTLIL; the last command writes."""
    *others, write = commands
    with tempfile.TemporaryDirectory(prefix="ctm-") as folder:
        return _improved(yosys(Path(folder), text, *_PROCESSES, *others, f"{write} out.v", result="out.v"))


def _improved(verilog: str) -> str:
    """What Yosys has written, so that it says and costs a model what it should."""
    # Where part of a signal is constant, Yosys writes an `always @*` that reads nothing and therefore never runs; an
    # always_comb runs once at least.
    verilog = _ZEROS.sub(_loop, verilog.replace("\n  always @*", "\n  always_comb"))
    return with_strobes_together(with_selections(verilog))


@contextmanager
def without_collection() -> Iterator[None]:
    """Keep Python from looking for garbage, which of millions of objects takes as long as making them, and is rare."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


# As Amaranth does it.
_PROCESSES = ("proc -nomux -norom", "memory_collect")
_OWN = " ".join(f"-remove {name}" for name in ("generator", "top", "src", "amaranth.hierarchy", "amaranth.decoding"))
_NO_ATTRIBUTES = (f"attrmap {_OWN}", f"attrmap -modattr {_OWN}")
_WRITE = "write_verilog -norename"
_ZEROS = re.compile(r"  initial begin\n((?:    (\S+ ?)\[\d+\] = \d+'h0+;\n)+)  end\n")
"""A memory that starts as zeros, row by row: that is half of some designs' text."""


def _loop(rows: re.Match[str]) -> str:
    """The same as a loop."""
    name, count = rows[2], rows[1].count("\n")
    return f"  initial for (int row = 0; row < {count}; row = row + 1) {name}[row] = 0;\n"


def only_sync(name: str) -> ClockDomain | None:
    """The clock domain that comes from outside, see `convert`."""
    return ClockDomain(name) if name == "sync" else None

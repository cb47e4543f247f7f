"""Amaranth components as Verilog-2005, as Yosys writes it, changed so that every tool takes it without complaint."""

import gc
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from amaranth import ClockDomain, Const, Value
from amaranth.back import rtlil
from amaranth.hdl import ValueCastable
from amaranth.lib import wiring
from amaranth.lib.wiring import Flow

from ctm.sim.compiled.rewriting.cases import with_defaults, with_disjoint_cases
from ctm.sim.compiled.rewriting.names import with_instances_apart, with_plain_names
from ctm.sim.compiled.rewriting.nothing import with_all_of_nothing, without_nothing
from ctm.sim.compiled.rewriting.selections import with_selections
from ctm.sim.compiled.rewriting.starts import with_starts
from ctm.sim.compiled.rewriting.strobes import with_strobes_together
from ctm.sim.compiled.rewriting.widths import with_equal_widths
from ctm.sim.compiled.sharing import shared_expressions
from ctm.sim.compiled.tools.yosys import yosys
from ctm.sim.compiled.trusted_nets import trusted_nets


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


def ports(component: wiring.Component | wiring.PureInterface) -> Iterator[Port]:
    """The ports of a component or an interface, in the order of its signature.

    Those of nested interfaces are ``interface__member``.

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
    """A component as Verilog, without source locations, so that the same hardware is always the same text.

    Ports are those of `ports`, and `clk` and `rst` if the component uses the domain "sync" and does not make it.

    Raises
    ------
    ToolchainError
        Yosys, which writes the Verilog, is missing or failed.
    DomainError
        The component uses another domain that it does not make.
    """
    return _written(convert_to_rtlil(component, top=top), *_NO_ATTRIBUTES, _WRITE)


def convert_to_rtlil(component: wiring.Component, *, top: str, platform: object = None, is_shared: bool = False) -> str:
    """A component as RTLIL, the text form of Yosys's own netlists; ports are those of `convert`.

    With `is_shared` it has each expression once in a module, which everything that reads it is quicker for.
    """
    with without_collection(), trusted_nets(), shared_expressions() if is_shared else nullcontext():
        text: str = rtlil.convert(
            component,
            name=top,
            platform=platform,
            ports=[port.value for port in ports(component)],
            emit_src=False,
            missing_domain=only_sync,
        )
    return with_all_of_nothing(text)


def from_rtlil(text: str) -> str:
    """RTLIL as Verilog.

    Raises
    ------
    ToolchainError
        Yosys is missing or failed.
    """
    return _written(text, f"{_WRITE} -noattr")


def _written(text: str, *commands: str) -> str:
    """What Yosys writes of RTLIL; the last command writes."""
    *others, write = commands
    for rewriting in _IN_RTLIL:
        text = rewriting(text)
    with tempfile.TemporaryDirectory(prefix="ctm-") as folder:
        verilog = yosys(Path(folder), text, *_PROCESSES, *others, f"{write} out.v", result="out.v")
    for rewriting in _IN_VERILOG:
        verilog = rewriting(verilog)
    return verilog


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


# As Amaranth does it, but that operators stay what they are made here.
_PROCESSES = ("proc -nomux -norom -noopt", "memory_collect")
_OWN = " ".join(f"-remove {name}" for name in ("generator", "top", "src", "amaranth.hierarchy", "amaranth.decoding"))
_NO_ATTRIBUTES = (f"attrmap {_OWN}", f"attrmap -modattr {_OWN}")
_WRITE = "write_verilog -norename"
_IN_RTLIL: tuple[Callable[[str], str], ...] = (without_nothing, with_equal_widths, with_disjoint_cases)
_IN_VERILOG: tuple[Callable[[str], str], ...] = (
    with_starts,
    with_selections,
    with_strobes_together,
    with_defaults,
    with_plain_names,
    with_instances_apart,
)


def only_sync(name: str) -> ClockDomain | None:
    """The clock domain that comes from outside, see `convert`."""
    return ClockDomain(name) if name == "sync" else None

"""Coefficients of the transcendental functions, for one unit or two.

Source: docs/arithmetic.md, steps 2 to 4.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from amaranth import Module, signed
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out, connect

from ctm.rtl.config import PipelineConfig
from ctm.rtl.isa.coefficients import COEFFICIENTS
from ctm.rtl.isa.transcendental import ADDRESS_BITS, C0_BITS, C1_BITS, C2_BITS
from ctm.rtl.lib.forwarding import forward

_ENTRY = data.StructLayout({"c0": C0_BITS, "c1": signed(C1_BITS), "c2": signed(C2_BITS)})

FunctionReader = wiring.Signature({"address": Out(ADDRESS_BITS), "entry": In(_ENTRY)})
"""A request to a table; the entry is valid a cycle later."""

_MOST_READERS = 2
"""Ports of a block RAM."""


class FunctionTable(wiring.Component):
    """The coefficients of every segment of every function: 1,024 x 72 bits.

    Latency is 1; each reader has an entry in each cycle.

    Members
    -------
    readers : ``In(FunctionReader)``, as many
    """

    def __init__(self, *, readers: int) -> None:
        if not 1 <= readers <= _MOST_READERS:
            raise ValueError(f"a function table has 1 or {_MOST_READERS} readers, not {readers}")
        super().__init__({"readers": In(FunctionReader).array(readers)})

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        entries = [dict(zip(("c0", "c1", "c2"), entry, strict=True)) for entry in COEFFICIENTS]
        table: Memory = Memory(shape=_ENTRY, depth=len(entries), init=entries)
        m.submodules.table = table
        for reader in self.readers:
            port = table.read_port()
            m.d.comb += [port.addr.eq(reader.address), reader.entry.eq(port.data)]
        return m


def share_tables(m: Module, readers: Sequence[wiring.PureInterface]) -> None:
    """Give every two readers a table."""
    for first in range(0, len(readers), _MOST_READERS):
        pair = readers[first : first + _MOST_READERS]
        m.submodules[f"functions_{first}"] = table = FunctionTable(readers=len(pair))
        for number, reader in enumerate(pair):
            connect(m, reader, table.readers[number])


class WithTable(wiring.Component):
    """A unit with a table of functions to itself; `latency` is the unit's.

    Members
    -------
    those of the unit but for `functions`, which is a ``FunctionReader``
    """

    def __init__(self, unit: Any) -> None:
        self._unit, self.latency = unit, unit.latency
        super().__init__({name: member for name, member in unit.signature.members.items() if name != "functions"})

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.unit = unit = self._unit
        share_tables(m, [unit.functions])
        forward(m, self, unit, self.signature.members)
        return m


def with_table(make: Callable[[PipelineConfig], Any]) -> Callable[[PipelineConfig], WithTable]:
    """Make of a configuration what `make` makes of it, with a table of its own."""

    @wraps(make, updated=())
    def made(config: PipelineConfig) -> WithTable:
        return WithTable(make(config))

    return made

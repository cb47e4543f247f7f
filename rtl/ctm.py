"""The top module `ctm`: the machine with the signal names of the AXI standards at its ports."""

from collections.abc import Iterator, Mapping

from amaranth import Const, Module, Signal, Value
from amaranth.hdl import ValueLike
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import MachineConfig
from ctm.rtl.dpp.array import CoreMaker
from ctm.rtl.dpp.core_module import CoreModule
from ctm.rtl.host.control_bus import OFFSET_BITS
from ctm.rtl.isa.limits import ADDRESS_BITS, BYTE_BITS, WORD_BITS
from ctm.rtl.machine import Machine
from ctm.rtl.mc.bus.axi import LENGTH_BITS

CONTROL = "s_axi_control"
_INCREMENTING = 1
_BUFFERABLE = 0b0011
"""Normal, not cached, may be buffered."""
_ID_BITS = 1


class Ctm(wiring.Component):
    """The machine as a module for FPGAs.

    Its ports are `clk`, `rst` (synchronous, active high), `irq`, one AXI4-Lite subordinate and one AXI4 manager for
    each memory port, all in the clock domain of `clk`. All transactions have ID 0. `core` makes the cores, see `Array`.
    """

    irq: Signal

    def __init__(self, config: MachineConfig, core: CoreMaker = CoreModule) -> None:
        self._config, self.machine = config, Machine(config, core)
        members: dict[str, wiring.Member] = {"irq": Out(1)}
        members |= {f"{CONTROL}_{name}": (Out if own else In)(width) for name, width, own in _control_signals()}
        self.prefixes = [f"m_axi_{name}" for name in config.memory.ports]
        for prefix in self.prefixes:
            members |= memory_members(prefix, config.memory.data_bits)
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.machine = machine = self.machine
        m.d.comb += self.irq.eq(machine.irq)
        self._connect_control(m, machine.control)
        for prefix, bus in zip(self.prefixes, machine.buses, strict=True):
            connect_memory(m, self, prefix, bus, self._config.memory.data_bits)
        return m

    def _connect_control(self, m: Module, bus: wiring.PureInterface) -> None:
        def channel(name: str, port: stream.Interface, sends: bool, fields: Mapping[str, ValueLike]) -> None:
            connect_channel(m, self, f"{CONTROL}_{name}", port, sends, fields)

        channel("aw", bus.aw, False, {"addr": bus.aw.payload})
        channel("w", bus.w, False, {"data": bus.w.payload.bits, "strb": bus.w.payload.strobe})
        channel("b", bus.b, True, {"resp": bus.b.payload})
        channel("ar", bus.ar, False, {"addr": bus.ar.payload})
        channel("r", bus.r, True, {"data": bus.r.payload.bits, "resp": bus.r.payload.response})


def connect_channel(
    m: Module, top: wiring.Component, prefix: str, port: stream.Interface, sends: bool, fields: Mapping[str, ValueLike]
) -> None:
    """Connect a stream of the machine with a channel's signals at a top module."""
    valid, ready = getattr(top, f"{prefix}valid"), getattr(top, f"{prefix}ready")
    m.d.comb += [valid.eq(port.valid), port.ready.eq(ready)] if sends else [
        port.valid.eq(valid), ready.eq(port.ready),
    ]  # fmt: skip
    for name, field in fields.items():
        signal, value = getattr(top, f"{prefix}{name}"), Value.cast(field)
        m.d.comb += signal.eq(value) if sends else value.eq(signal)


def connect_memory(m: Module, top: wiring.Component, prefix: str, bus: wiring.PureInterface, data_bits: int) -> None:
    """Connect a memory port with its signals at a top module, see `memory_members`."""
    beat_bytes = data_bits // BYTE_BITS
    burst = {
        "id": Const(0), "size": Const(beat_bytes.bit_length() - 1), "burst": Const(_INCREMENTING),
        "lock": Const(0), "cache": Const(_BUFFERABLE), "prot": Const(0), "qos": Const(0),
    }  # fmt: skip

    def channel(name: str, port: stream.Interface, sends: bool, fields: Mapping[str, ValueLike]) -> None:
        connect_channel(m, top, f"{prefix}_{name}", port, sends, fields)

    for name, port in (("ar", bus.ar), ("aw", bus.aw)):
        channel(name, port, True, {"addr": port.payload.address, "len": port.payload.length, **burst})
    w, b, r = bus.w.payload, bus.b.payload, bus.r.payload
    channel("w", bus.w, True, {"data": w.bits, "strb": w.strobe, "last": w.last})
    channel("b", bus.b, False, {"resp": b.response})
    channel("r", bus.r, False, {"data": r.bits, "resp": r.response, "last": r.last})


def memory_members(prefix: str, data_bits: int) -> dict[str, wiring.Member]:
    """The signals of an AXI4 manager port as members of a top module."""
    return {f"{prefix}_{name}": (Out if own else In)(width) for name, width, own in _memory_signals(data_bits)}


def _control_signals() -> Iterator[tuple[str, int, bool]]:
    """Name, width and whether the machine drives it."""
    for channel in ("aw", "ar"):
        yield from ((f"{channel}addr", OFFSET_BITS, False), (f"{channel}prot", 3, False))
        yield from _handshake(channel, False)
    yield from (("wdata", WORD_BITS, False), ("wstrb", WORD_BITS // BYTE_BITS, False))
    yield from _handshake("w", False)
    yield ("bresp", 2, True)
    yield from _handshake("b", True)
    yield from (("rdata", WORD_BITS, True), ("rresp", 2, True))
    yield from _handshake("r", True)


def _memory_signals(data_bits: int) -> Iterator[tuple[str, int, bool]]:
    """Name, width and whether the machine drives it."""
    burst = {
        "id": _ID_BITS, "addr": ADDRESS_BITS, "len": LENGTH_BITS, "size": 3, "burst": 2, "lock": 1, "cache": 4,
        "prot": 3, "qos": 4,
    }  # fmt: skip
    for channel in ("aw", "ar"):
        yield from ((f"{channel}{name}", width, True) for name, width in burst.items())
        yield from _handshake(channel, True)
    yield from (("wdata", data_bits, True), ("wstrb", data_bits // BYTE_BITS, True), ("wlast", 1, True))
    yield from _handshake("w", True)
    yield from (("bid", _ID_BITS, False), ("bresp", 2, False))
    yield from _handshake("b", False)
    yield from (("rid", _ID_BITS, False), ("rdata", data_bits, False), ("rresp", 2, False), ("rlast", 1, False))
    yield from _handshake("r", False)


def _handshake(channel: str, sends: bool) -> Iterator[tuple[str, int, bool]]:
    yield from ((f"{channel}valid", 1, sends), (f"{channel}ready", 1, not sends))

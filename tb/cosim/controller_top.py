"""The memory controller with its memory ports as a module of its own: clients as streams, memory as AXI4."""

from typing import Any

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import enum, wiring
from amaranth.lib.wiring import In, Out, connect

from ctm.rtl.config import MachineConfig
from ctm.rtl.lib.forwarding import forward
from ctm.rtl.mc.bus.memory_ports import MemoryPorts
from ctm.rtl.mc.controller import MemoryController, read_clients, written_lines
from ctm.tb.mc.fetches import TAG_BITS

TOP = "controller"
SLOT_BITS = 4
_PASSENGER_BITS = 8
_INCREMENTING = 1
_PAGE_END = 0xFF0


class Mistake(enum.Enum, shape=4):
    """What the module does wrong at its local port, to see that tests find it."""

    NONE = 0
    FOREIGN_BYTES = 1
    """All bytes of a beat are written."""
    EARLY_LAST = 2
    """Every beat written is the last one."""
    WITHDRAWN = 3
    """An address goes away before it was taken."""
    CHANGED = 4
    """An address changes before it was taken."""
    CROSSING = 5
    """A burst crosses 4 KiB."""
    WRONG_SIZE = 6
    """A burst's beats are said to have one byte."""
    WRONG_DATA = 7
    """A bit read is inverted."""
    LOST_WRITE = 8
    """No byte is written."""


def _bus_members(data_bits: int) -> dict[str, Any]:
    """Signals of an AXI4 manager without its prefix."""
    burst = {"id": 1, "addr": 32, "len": 8, "size": 3, "burst": 2}
    sent = {"aw": burst, "ar": burst, "w": {"data": data_bits, "strb": data_bits // 8, "last": 1}}
    received = {"b": {"id": 1, "resp": 2}, "r": {"id": 1, "data": data_bits, "resp": 2, "last": 1}}
    members: dict[str, Any] = {}
    for channels, forth, back in ((sent, Out, In), (received, In, Out)):
        for channel, fields in channels.items():
            members |= {f"{channel}{name}": forth(width) for name, width in fields.items()}
            members |= {f"{channel}valid": forth(1), f"{channel}ready": back(1)}
    return members


class ControllerTop(wiring.Component):
    """Ports are those of `MemoryController` but for its memory side, which is ``m_axi_local`` and ``m_axi_system``.

    And `mistake`, ``In(Mistake)``.
    """

    def __init__(self, config: MachineConfig) -> None:
        self._config = config
        self._controller = MemoryController(
            config,
            tag=TAG_BITS,
            wave=SLOT_BITS,
            conditional_passenger=_PASSENGER_BITS,
        )
        clients = {name: member for name, member in self._controller.signature.members.items() if name != "ports"}
        buses = {
            f"m_axi_{port}_{name}": member
            for port in config.memory.ports
            for name, member in _bus_members(config.memory.data_bits).items()
        }
        self._clients = clients
        super().__init__(clients | buses | {"mistake": In(Mistake)})

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.controller = controller = self._controller
        memory, names = self._config.memory, self._config.memory.ports
        m.submodules.ports = ports = MemoryPorts(
            controller.read_tag, controller.write_tag, ports=len(names), data_bits=memory.data_bits,
            slice_bits=memory.slice_bits, reads=sum(each.lines for each in read_clients(self._config)),
            writes=written_lines(memory),
        )  # fmt: skip
        forward(m, self, controller, self._clients)
        for index, name in enumerate(names):
            connect(m, controller.ports[index], ports.clients[index])
            self._connect_bus(m, f"m_axi_{name}", ports.buses[index])
        self._plant(m, f"m_axi_{names[0]}", ports.buses[0])
        return m

    def _plant(self, m: Module, prefix: str, bus: Any) -> None:
        """Override what the mistake concerns."""
        wrong: dict[str, Value] = {
            name: Value.cast(getattr(self, f"{prefix}_{name}"))
            for name in ("wstrb", "wlast", "araddr", "arvalid", "arsize")
        }
        toggle, address = Signal(), Value.cast(bus.ar.payload.address)
        m.d.sync += toggle.eq(~toggle)
        with m.Switch(self.mistake):
            with m.Case(Mistake.FOREIGN_BYTES):
                m.d.comb += wrong["wstrb"].eq(~0)
            with m.Case(Mistake.EARLY_LAST):
                m.d.comb += wrong["wlast"].eq(1)
            with m.Case(Mistake.WITHDRAWN):
                m.d.comb += wrong["arvalid"].eq(bus.ar.valid & (toggle | bus.ar.ready))
            with m.Case(Mistake.CHANGED):
                m.d.comb += wrong["araddr"].eq(address ^ toggle << 12)
            with m.Case(Mistake.CROSSING):
                m.d.comb += wrong["araddr"].eq(Cat(Const(_PAGE_END, 12), address[12:]))
            with m.Case(Mistake.WRONG_SIZE):
                m.d.comb += wrong["arsize"].eq(0)
            with m.Case(Mistake.WRONG_DATA):
                m.d.comb += bus.r.payload.bits[0].eq(~Value.cast(getattr(self, f"{prefix}_rdata"))[0])
            with m.Case(Mistake.LOST_WRITE):
                m.d.comb += wrong["wstrb"].eq(0)

    def _connect_bus(self, m: Module, prefix: str, bus: Any) -> None:
        def signal(name: str) -> Value:
            return Value.cast(getattr(self, f"{prefix}_{name}"))

        size = (self._config.memory.data_bits // 8).bit_length() - 1
        for channel in ("aw", "ar"):
            burst = getattr(bus, channel).payload
            values = {"addr": burst.address, "len": burst.length, "size": Const(size), "burst": Const(_INCREMENTING)}
            m.d.comb += [signal(f"{channel}{name}").eq(value) for name, value in values.items()]
        w, b, r = bus.w.payload, bus.b.payload, bus.r.payload
        m.d.comb += [signal("wdata").eq(w.bits), signal("wstrb").eq(w.strobe), signal("wlast").eq(w.last)]
        m.d.comb += [Value.cast(b.response).eq(signal("bresp")), Value.cast(r.response).eq(signal("rresp"))]
        m.d.comb += [r.bits.eq(signal("rdata")), r.last.eq(signal("rlast"))]
        for channel in ("aw", "ar", "w"):
            port = getattr(bus, channel)
            m.d.comb += [signal(f"{channel}valid").eq(port.valid), port.ready.eq(signal(f"{channel}ready"))]
        for channel in ("b", "r"):
            port = getattr(bus, channel)
            m.d.comb += [port.valid.eq(signal(f"{channel}valid")), signal(f"{channel}ready").eq(port.ready)]

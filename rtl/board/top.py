"""The top of a board's FPGA: its pins, and the modules that they connect to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from amaranth import Cat, ClockSignal, Const, Elaboratable, Instance, Module, ResetSignal, Signal, Value
from amaranth.lib import io
from amaranth.lib.wiring import Out

from ctm.rtl.board.board import HOST, MACHINE
from ctm.rtl.board.startup import Startup, Step
from ctm.rtl.ctm import memory_members

BOARD, CONTROLLER = "board", "litedram"
"""The modules: a `Board`, and a memory controller as LiteDRAM's generator writes it."""
MEMORY_BYTES = 32 << 20
"""The smallest SDRAM that boards of this kind have."""
USER_PORTS = tuple(prefix.removeprefix("m_axi_") for prefix in (MACHINE, HOST))
"""The controller's AXI ports, in the order of the board's."""
_PINS = {
    "a": "a", "ba": "ba", "cas_n": "cas", "cke": "clk_en", "cs_n": "cs", "dm": "dqm", "ras_n": "ras", "we_n": "we",
}  # fmt: skip
"""The controller's outputs, and the names of the chip's pins in the board's description."""
_HELD = "clk_en"
"""A pin that some boards tie to 1."""
_NOT_TAKEN = ("lock", "cache", "prot", "qos")
_WIDTHS = {"addr": (MEMORY_BYTES - 1).bit_length(), "size": 4}
"""Widths of signals that are as wide as the controller's."""
_IN, _OUT = io.Direction.Input, io.Direction.Output


class Clocks(Protocol):
    """Makes the clocks of a board."""

    def __call__(self, m: Module, platform: Any, frequency: int, button: Value, memory: io.SingleEndedPort) -> None:
        """Make the domain "sync", with a clock of so many Hz.

        It is in reset for some cycles after the start of the FPGA, and after `button` is released and the clock is
        steady. The memory chip has the inverted clock, so signals have half a period in either direction.
        """


@dataclass(frozen=True, kw_only=True)
class BoardResources:
    """A board's resources beside serial line ("uart") and memory ("sdram"), by their names in its platform.

    `button` is the reset of all; `led`, if there is one, lights when memory has been started.
    """

    clocks: Clocks
    button: str
    led: str | None = None


class Top(Elaboratable):
    """Connects a `Board` and the controller of its memory with each other and with the pins of the platform.

    All is in one domain, with a clock of `frequency` Hz, which `resources` make. `steps` start the memory.
    """

    def __init__(self, resources: BoardResources, *, data_bits: int, frequency: int, steps: Sequence[Step]) -> None:
        self._resources, self._data_bits, self._frequency = resources, data_bits, frequency
        self._startup = Startup(steps)

    def elaborate(self, platform: Any) -> Module:
        """Build the hardware."""
        m = Module()
        resources = self._resources
        m.submodules.button = button = io.Buffer(_IN, platform.request(resources.button, 0, dir="-"))
        m.submodules.startup = startup = self._startup
        serial, memory = platform.request("uart", dir="-"), platform.request("sdram", dir="-")
        m.submodules.receive, m.submodules.transmit = receive, transmit = (
            io.Buffer(_IN, serial.rx),
            io.Buffer(_OUT, serial.tx),
        )
        resources.clocks(m, platform, self._frequency, button.i, memory.clk)
        if resources.led is not None:
            m.submodules.led = led = io.Buffer(_OUT, platform.request(resources.led, 0, dir="-"))
            m.d.comb += led.o.eq(startup.done)
        domain = {"i_clk": ClockSignal(), "i_rst": ResetSignal()}
        board: dict[str, Any] = domain | {"i_receive": receive.i, "o_transmit": transmit.o}
        controller: dict[str, Any] = domain | {"io_sdram_dq": memory.dq.io}
        for pin, name in _PINS.items():
            if name == _HELD and not hasattr(memory, name):
                continue
            # The controller's levels: it inverts pins that are active low.
            port = io.SingleEndedPort(getattr(memory, name).io, direction=_OUT)
            m.submodules[f"memory_{name}"] = buffer = io.Buffer(_OUT, port)
            controller[f"o_sdram_{pin}"] = buffer.o
        control = startup.control
        controller |= {
            "i_wb_ctrl_cyc": control.request, "i_wb_ctrl_stb": control.request, "i_wb_ctrl_we": control.request,
            "i_wb_ctrl_adr": control.number, "i_wb_ctrl_dat_w": control.word, "i_wb_ctrl_sel": Const(0b1111, 4),
            "i_wb_ctrl_cti": Const(0, 3), "i_wb_ctrl_bte": Const(0, 2), "o_wb_ctrl_ack": control.acknowledge,
        }  # fmt: skip
        for prefix, user in zip((MACHINE, HOST), USER_PORTS, strict=True):
            for own, other, name, wire in self._wires(prefix):
                board[f"{own}_{prefix}_{name}"] = wire
                if not name.endswith(_NOT_TAKEN):
                    controller[f"{other}_user_port_{user}_{name}"] = _as_wide(name, wire)
        m.submodules.board, m.submodules.controller = Instance(BOARD, **board), Instance(CONTROLLER, **controller)
        return m

    def _wires(self, prefix: str) -> Iterator[tuple[str, str, str, Signal]]:
        """The wires of a memory port: what it is for the board and for the controller, its name, and itself."""
        for whole, member in memory_members(prefix, self._data_bits).items():
            own, other = ("o", "i") if member.flow is Out else ("i", "o")
            yield own, other, whole.removeprefix(f"{prefix}_"), Signal(member.shape, name=whole)


def _as_wide(name: str, wire: Signal) -> Value:
    """A wire of a memory port, as wide as the controller's."""
    width = _WIDTHS.get(name[2:], len(wire))
    return wire[:width] if width <= len(wire) else Cat(wire, Const(0, width - len(wire)))

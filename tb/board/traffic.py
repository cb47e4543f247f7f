"""Memory at the pins without a machine: a generator of bursts replaces the board."""

import ctypes
from collections.abc import Callable, Sequence
from pathlib import Path

from amaranth.lib.wiring import Out

from ctm.rtl.board.board import HOST, MACHINE
from ctm.rtl.board.startup import Step
from ctm.rtl.board.top import BOARD
from ctm.rtl.config import PRESETS
from ctm.rtl.ctm import memory_members
from ctm.rtl.isa.limits import BYTE_BITS
from ctm.sim.boards.controller import generate
from ctm.sim.boards.design import pins
from ctm.sim.boards.target import ULX3S, Target
from ctm.sim.compiled.verilog import from_rtlil
from ctm.tb.board.pins import DRIVER, BoardAtPins, PinsError, library

DATA_BITS = PRESETS[ULX3S.preset].memory.data_bits
"""Of the machine's memory port on a ULX3S."""
Change = Callable[[Sequence[Step]], Sequence[Step]]
_TEXT = 256


def traffic_library(
    change: Change = lambda steps: steps,
    *,
    target: Target = ULX3S,
    frequency: int | None = None,
    data_bits: int = DATA_BITS,
) -> Path:
    """The compiled pins with bursts instead of a board; `change` is made to the steps by which memory starts."""
    clock = target.clock(frequency)
    controller = generate(frequency=clock, data_bits=data_bits, input_cycles=target.input_cycles)
    scope = f"model.rootp->{target.top}__DOT__{BOARD}__DOT__"
    ports = [f"constexpr unsigned BEAT = {data_bits // BYTE_BITS};\n"]
    for name, prefix in (("machine_port", MACHINE), ("host_port", HOST)):
        accessors = "".join(
            f"static auto& {signal.removeprefix(f'{prefix}_')}(Model& model) {{ return {scope}{signal}; }}\n"
            for signal in memory_members(prefix, data_bits)
        )
        ports.append(f"struct {name} {{\n{accessors}}};\n")
    around = pins(target, data_bits=data_bits, frequency=clock, steps=change(controller.steps))
    return library(
        around, [from_rtlil(around.text), _stand_in(data_bits), controller.verilog], clock, target=target,
        root=True, own=(DRIVER, "".join(ports), "traffic.cc"),
    )  # fmt: skip


class Traffic(BoardAtPins):
    """Memory at both ports, and bursts."""

    def run(self, cycles: int, *, seed: int = 1) -> int:
        """The bursts of so many cycles.

        Raises
        ------
        PinsError
            The chip rejects a command, or a byte is not what was written.
        """
        run = self._library.board_traffic
        pointer, number = ctypes.c_void_p, ctypes.c_uint64
        run.argtypes, run.restype = [pointer, number, number, ctypes.c_char_p], number
        mistake = ctypes.create_string_buffer(_TEXT)
        bursts = int(run(self._handle, cycles, seed, mistake))
        if found := self._violation or mistake.value.decode():
            raise PinsError(found)
        return bursts


def _stand_in(data_bits: int) -> str:
    """Verilog with a board's ports: C++ drives its outputs and sees its inputs."""
    members = {"receive": (1, "input"), "transmit": (1, "output reg")}
    for prefix in (MACHINE, HOST):
        for name, member in memory_members(prefix, data_bits).items():
            members[name] = (member.shape, "output reg" if member.flow is Out else "input")
    ports = ["input clk", "input rst /*verilator public_flat_rd*/"]
    for name, (width, kind) in members.items():
        access = "rw" if kind.startswith("output") else "rd"
        ports.append(f"{kind} [{width - 1}:0] {name} /*verilator public_flat_{access}*/")
    return f"module {BOARD}({', '.join(ports)});\nendmodule\n"

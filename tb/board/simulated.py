"""A whole board, compiled: the machine, the bridge and memory, with a serial line at its pins."""

import ctypes
from functools import cache
from importlib import resources
from pathlib import Path

from ctm.rtl.board.board import HOST, MACHINE, Board
from ctm.rtl.config import MachineConfig
from ctm.rtl.dpp.core_module import CoreInstance
from ctm.sim.compiled.machine import rtlil
from ctm.sim.compiled.rewriting.repeated import merge
from ctm.sim.compiled.tools.toolchain import Model, build
from ctm.sim.compiled.verilog import from_rtlil
from ctm.sim.engines.model import MemorySetup, key, port_accessors
from ctm.sim.memory import Memory

FREQUENCY = 48_000_000
PERIOD = 4
BAUD = FREQUENCY // PERIOD
MEMORY_BYTES = 1 << 18
_CAPACITY = 1 << 16
_CYCLES = 4096
"""Between two looks at the host's end."""


@cache
def library(config: MachineConfig) -> Path:
    """The compiled board."""

    def models() -> Model:
        board = Board(config, frequency=FREQUENCY, baud=BAUD, memory_bytes=MEMORY_BYTES, core=CoreInstance)
        return Model("board", from_rtlil(merge(rtlil(board, config, "board"), "board")))

    engines = resources.files("ctm.sim.engines")
    texts = [engines.joinpath("axi_memory.h").read_text(), engines.joinpath("verilated.h").read_text()]
    accessors = {"machine_port": MACHINE, "host_port": HOST}
    ports = "\n".join(port_accessors(name, prefix, config.memory.data_bits) for name, prefix in accessors.items())
    own = [Path(__file__).with_name(name).read_text() for name in ("serial_end.h", "board.cc")]
    model = "struct Model : ModelContext, Vboard { Model() : Vboard(&context) {} };"
    wrapper = "\n".join(['#include "models.h"', *texts, model, ports, f"constexpr int PERIOD = {PERIOD};", *own])
    return build(models, wrapper, key=f"board {PERIOD} {MEMORY_BYTES} {key(config)}")


class SimulatedBoard:
    """Exchanges bytes with a board that runs as fast as it can; its memory has anything in it."""

    def __init__(self, config: MachineConfig, *, noise: float = 0.0, stall: float = 0.0, seed: int = 1) -> None:
        self._library = ctypes.CDLL(str(library(config)))
        pointer, number = ctypes.c_void_p, ctypes.c_uint64
        self._library.board_make.argtypes, self._library.board_make.restype = [pointer, number], pointer
        self._library.board_free.argtypes = [pointer]
        self._library.board_cycles.argtypes, self._library.board_cycles.restype = [pointer], number
        run = self._library.board_run
        run.argtypes, run.restype = [pointer, number, ctypes.c_char_p, number, ctypes.c_char_p, number], number
        self.memory = Memory()
        self.memory.bytes[: 1 << 16] = 0x5A
        setup = MemorySetup(
            bytes=self.memory.bytes.ctypes.data, latency=config.memory.latency,
            bytes_per_cycle=config.memory.bytes_per_cycle, jitter=7 if stall else 0,
            stall=round(stall * (1 << 16)), seed=seed,
        )  # fmt: skip
        self._handle = self._library.board_make(ctypes.byref(setup), round(noise * (1 << 32)))
        self._received = ctypes.create_string_buffer(_CAPACITY)

    def __del__(self) -> None:
        if hasattr(self, "_handle"):
            self._library.board_free(self._handle)

    def __call__(self, sent: bytes) -> bytes:
        """Some cycles."""
        count = self._library.board_run(self._handle, _CYCLES, sent, len(sent), self._received, _CAPACITY)
        return self._received.raw[:count]

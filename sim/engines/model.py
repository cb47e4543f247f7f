"""The machine as a compiled model, with its memory and its host in C++."""

import ctypes
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path

import numpy as np

from ctm.rtl.config import DEFAULT, SIMULATED, MachineConfig, MemoryConfig
from ctm.rtl.isa.host import REGISTERS
from ctm.sim.compiled.sources import sources
from ctm.sim.engines.cycle_accurate import CycleAccurateEngine, SimulatedMachine
from ctm.sim.engines.engine import Notice, compiling
from ctm.sim.memory import Memory

TOP = "ctm"
PUSH = next(register.offset for register in REGISTERS if register.name == "QUEUE_PUSH")
"""The register that takes command buffers."""
_BEAT_BITS = 8
# Without a configuration of logging a warning is a line on standard error.
_log = logging.getLogger(__name__)
_MEMORY_SIGNALS = (
    "arvalid", "arready", "araddr", "arlen", "rvalid", "rready", "rresp", "rlast",
    "awvalid", "awready", "awaddr", "awlen", "wvalid", "wready", "wstrb", "bvalid", "bready", "bresp",
)  # fmt: skip
_DATA_SIGNALS = ("rdata", "wdata")
_CONTROL_SIGNALS = (
    "awvalid", "awready", "awaddr", "wvalid", "wready", "wdata", "wstrb", "bvalid", "bready",
    "arvalid", "arready", "araddr", "rvalid", "rready", "rdata",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Disturbance:
    """How irregular the simulated memory is; the same for the same seed.

    Responses come up to `jitter` cycles later than the configuration says, and in each cycle each ready and each new
    valid is withheld with the probability `stall`.
    """

    jitter: int = 0
    stall: float = 0.0
    seed: int = 0


class MemorySetup(ctypes.Structure):
    """What `axi_memory.h` is told of a memory."""

    _fields_ = [
        ("bytes", ctypes.c_void_p),
        ("error_ranges", ctypes.c_void_p),
        ("error_range_count", ctypes.c_uint64),
        ("latency", ctypes.c_uint64),
        ("bytes_per_cycle", ctypes.c_uint64),
        ("jitter", ctypes.c_uint64),
        ("stall", ctypes.c_uint64),
        ("seed", ctypes.c_uint64),
    ]


class CompiledMachine:
    """A machine after its reset; `library` is its compiled model with `host` around it.

    `origin` is the cycle in which the first command buffer was pushed, None before that.
    """

    origin: int | None = None

    def __init__(self, library: Path, config: MachineConfig, memory: Memory, disturbance: Disturbance) -> None:
        self.library = _load(library)
        # The model reads and writes the memory itself.
        self._memory = memory
        self._ranges = np.zeros((0, 2), np.uint64)
        setup = MemorySetup(
            bytes=memory.bytes.ctypes.data,
            latency=config.memory.latency,
            bytes_per_cycle=config.memory.bytes_per_cycle,
            jitter=disturbance.jitter,
            stall=round(disturbance.stall * (1 << 16)),
            seed=disturbance.seed,
        )
        self.handle: int = self.library.machine_make(ctypes.byref(setup))

    def __del__(self) -> None:
        if hasattr(self, "handle"):
            self.library.machine_free(self.handle)

    @property
    def cycles(self) -> int:
        """Clock cycles so far."""
        return int(self.library.machine_cycles(self.handle))

    @property
    def raised(self) -> int:
        """The cycle in which the interrupt was raised last."""
        return int(self.library.machine_raised(self.handle))

    def write(self, offset: int, value: int) -> None:
        """Write a register."""
        if offset == PUSH and self.origin is None:
            self.origin = self.cycles
        if not self.library.machine_write(self.handle, offset, value):
            raise TimeoutError(f"the control port does not respond to a write to 0x{offset:03x}")

    def read(self, offset: int) -> int:
        """Read a register."""
        value = ctypes.c_uint32()
        if not self.library.machine_read(self.handle, offset, ctypes.byref(value)):
            raise TimeoutError(f"the control port does not respond to a read of 0x{offset:03x}")
        return value.value

    def run(self, cycles: int) -> bool:
        """Clock until the interrupt is raised, at most `cycles` cycles; whether it is."""
        self._set_errors(self._memory.error_ranges)
        return bool(self.library.machine_run(self.handle, cycles))

    def _set_errors(self, ranges: Sequence[tuple[int, int]]) -> None:
        if len(ranges) != len(self._ranges):
            self._ranges = np.array(ranges, np.uint64).reshape(-1, 2)
            self.library.machine_set_errors(self.handle, self._ranges.ctypes.data, len(self._ranges))


class CompiledEngine(CycleAccurateEngine):
    """An engine that runs command buffers on a compiled model."""

    disturbance = Disturbance()
    """Of the simulated memory."""

    @staticmethod
    def library(config: MachineConfig, tell: Notice = lambda: None) -> Path:
        """The compiled model of a configuration, whatever its simulated memory; `tell` is called if it must be made.

        Raises
        ------
        ToolchainError
            A tool is missing or failed.
        """
        raise NotImplementedError

    @classmethod
    def prepare(cls, config: MachineConfig, tell: Notice) -> None:
        """Compile the machine; see `Engine.prepare`."""
        super().prepare(config, tell)
        cls.library(config, tell)

    def make_machine(self, config: MachineConfig) -> SimulatedMachine:
        """The compiled machine; see `prepare`."""
        return CompiledMachine(self.library(config, self.tell), config, self.memory, self.disturbance)

    def tell(self) -> None:
        """Log that a model is compiled now, because `prepare` was not called."""
        _log.warning(compiling(self.name))


def hardware(config: MachineConfig) -> MachineConfig:
    """The same configuration for all that differ in their simulated memory only: they share a model."""
    simulated = {name: getattr(DEFAULT.memory, name) for name in SIMULATED}
    return replace(config, memory=replace(config.memory, **simulated))


def key(config: MachineConfig) -> str:
    """A text that stands for all that a configuration's hardware is made from."""
    return f"{sources()} {config}"


def signals(memory: MemoryConfig) -> list[str]:
    """The ports of the machine that the host uses, but for clock and reset."""
    ports = [f"m_axi_{name}_{signal}" for name in memory.ports for signal in (*_MEMORY_SIGNALS, *_DATA_SIGNALS)]
    return ["irq", *(f"s_axi_control_{signal}" for signal in _CONTROL_SIGNALS), *ports]


def host(memory: MemoryConfig, *model: str, following: Sequence[str] = ()) -> str:
    """C++ that clocks a machine with this memory; `model` are the files that define it, see `machine.cc`.

    The files of `following` follow that.
    """
    prefixes = [f"m_axi_{name}" for name in memory.ports]
    ports = [port_accessors(f"{prefix}_port", prefix, memory.data_bits) for prefix in prefixes]
    listed = " ".join(f"USE({prefix}_port, {number})" for number, prefix in enumerate(prefixes))
    before = (_text(name) for name in ("axi_memory.h", *model))
    return "\n".join([*before, *ports, f"#define MEMORY_PORTS(USE) {listed}", *map(_text, ("machine.cc", *following))])


def _text(name: str) -> str:
    """A C++ file of this folder."""
    return resources.files("ctm.sim.engines").joinpath(name).read_text()


def port_accessors(name: str, prefix: str, data_bits: int) -> str:
    """C++ for the signals of a memory port, as a structure of this name."""
    accessors = "\n".join(
        f"    static auto& {signal}(Model& model) {{ return model.{prefix}_{signal}; }}" for signal in _MEMORY_SIGNALS
    )
    return f"""struct {name} {{
    static constexpr unsigned BEAT_BYTES = {data_bits // _BEAT_BITS};
{accessors}
    static void set_rdata(Model& model, const std::uint8_t* bytes) {{
        std::memcpy(storage(model.{prefix}_rdata), bytes, BEAT_BYTES);
    }}
    static void get_wdata(Model& model, std::uint8_t* bytes) {{
        std::memcpy(bytes, storage(model.{prefix}_wdata), BEAT_BYTES);
    }}
}};
"""


def _load(path: Path) -> ctypes.CDLL:
    """The compiled code, its functions with their types."""
    model = ctypes.CDLL(str(path))
    pointer, number, word = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint32
    model.machine_make.argtypes, model.machine_make.restype = [pointer], pointer
    model.machine_free.argtypes, model.machine_free.restype = [pointer], None
    model.machine_cycles.argtypes, model.machine_cycles.restype = [pointer], number
    model.machine_raised.argtypes, model.machine_raised.restype = [pointer], number
    model.machine_write.argtypes, model.machine_write.restype = [pointer, word, word], ctypes.c_bool
    model.machine_read.argtypes, model.machine_read.restype = [pointer, word, pointer], ctypes.c_bool
    model.machine_run.argtypes, model.machine_run.restype = [pointer, number], ctypes.c_bool
    model.machine_set_errors.argtypes, model.machine_set_errors.restype = [pointer, pointer, number], None
    return model

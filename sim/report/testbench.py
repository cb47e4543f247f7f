"""A testbench in plain Verilog that replays a job on the machine."""

from collections.abc import Iterable, Iterator
from importlib import resources

import numpy as np

from ctm.rtl.config import MachineConfig
from ctm.rtl.isa.host import REGISTERS
from ctm.rtl.isa.limits import BYTE_BITS, SYSTEM_MEMORY, WORD_BITS
from ctm.rtl.isa.word import pack
from ctm.sim.jobs.recording import Recording
from ctm.sim.memory import Words

TESTBENCH = "ctm_tb"
HOST, EXPECTED = f"{TESTBENCH}_host.hex", f"{TESTBENCH}_expected.hex"
VERILATOR_OPTIONS = (
    "--binary", "--timing", "-Wno-fatal", "-Wno-lint", "-CFLAGS", "'-std=c++20 -fcoroutines'",
    "-MAKEFLAGS", "CFG_CXXFLAGS_PCH_I=-include", "--top-module", TESTBENCH,
)  # fmt: skip
"""For a shell. The makefile in Verilator's Python package has no compiler's flags."""
MOST_CYCLES = 100_000_000
"""Cycles of a testbench, after which the machine hangs."""
_CONNECTED = (
    "araddr", "arlen", "arvalid", "arready", "rdata", "rlast", "rvalid", "rready",
    "awaddr", "awvalid", "awready", "wdata", "wstrb", "wlast", "wvalid", "wready", "bresp", "bvalid", "bready",
)  # fmt: skip
_CONSTANT = {"rid": "1'b0", "rresp": "2'd0", "bid": "1'b0"}
_UNUSED = tuple(
    f"{channel}{name}"
    for channel in ("ar", "aw")
    for name in ("id", "size", "burst", "lock", "cache", "prot", "qos")
) + ("awlen",)  # fmt: skip


def replaying(recording: Recording, config: MachineConfig, sources: Iterable[str]) -> dict[str, str]:
    """The texts of a testbench: itself, what the host does, and memory at the end; `sources` are the machine's."""
    memory = recording.memory
    local_words = memory["local"].size
    expected = np.concatenate([memory["local"], memory["system"]])
    host = np.array(list(_host(recording, local_words)), np.uint32)
    registers = {register.name: register for register in REGISTERS}
    values = {
        "HOST": HOST,
        "EXPECTED": EXPECTED,
        "SOURCES": " ".join([f"{TESTBENCH}.v", *sources]),
        "VERILATOR": " ".join(VERILATOR_OPTIONS),
        "BUFFERS": len(recording.submissions),
        "WORDS": expected.size,
        "LOCAL_WORDS": local_words,
        "SYSTEM": f"{SYSTEM_MEMORY:08x}",
        "HOST_WORDS": host.size,
        "MOST_CYCLES": MOST_CYCLES,
        "ENABLE": f"{pack(registers['CONTROL'].layout, clear_error=1, interrupt_enable=1):08x}",
        "ERROR_BIT": registers["STATUS"].layout["error"].offset,
        "PORTS": "".join(_port(f"m_axi_{name}", config) for name in config.memory.ports),
        "CONNECTIONS": "".join(_connections(f"m_axi_{name}") for name in config.memory.ports),
    }
    values |= {name: f"{registers[name].offset:03x}" for name in registers if name not in values}
    return {"testbench": _filled("testbench.v", values), "host": _hex(host), "expected": _hex(expected)}


def _host(recording: Recording, local_words: int) -> Iterator[int]:
    """What the testbench reads as its script."""
    before = {"local": 0, "system": local_words}
    for submission in recording.submissions:
        yield len(submission.runs)
        for region, first, words in submission.runs:
            yield from (before[region] + first, words.size, *words.tolist())
        yield from (submission.address, submission.dwords)


def _port(port: str, config: MachineConfig) -> str:
    bits = config.memory.data_bits
    values = {
        "PORT": port, "TOP_BIT": bits - 1, "TOP_BYTE": bits // BYTE_BITS - 1,
        "BEAT_WORDS": bits // WORD_BITS, "BEAT_BYTES": bits // BYTE_BITS,
    }  # fmt: skip
    return _filled("testbench_port.v", values)


def _connections(port: str) -> str:
    """The machine's side of a port."""
    signals = {name: f"{port}_{name}" for name in _CONNECTED} | _CONSTANT | dict.fromkeys(_UNUSED, "")
    return "".join(f",\n    .{port}_{name}({signal})" for name, signal in signals.items())


def _filled(name: str, values: dict[str, object]) -> str:
    text = resources.files("ctm.sim.report").joinpath(name).read_text()
    for key, value in values.items():
        text = text.replace(f"@{key}@", str(value))
    return text


def _hex(words: Words) -> str:
    return "".join(f"{word:08x}\n" for word in words.tolist())

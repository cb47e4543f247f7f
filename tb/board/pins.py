"""The whole design of a board, compiled, with a memory chip and a serial line at the pins of its FPGA."""

import ctypes
import re
from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path

from ctm.rtl.board.top import BOARD
from ctm.sim.boards.design import Design, Pins
from ctm.sim.boards.target import ULX3S, Target
from ctm.sim.compiled.rewriting.repeated import merge
from ctm.sim.compiled.tools.toolchain import Model, build
from ctm.sim.compiled.verilog import from_rtlil
from ctm.sim.synthesis.devices import DEVICES
from ctm.sim.synthesis.families.ecp5 import ECP5

PERIOD = 4
"""Default clock cycles of a bit; faster than a board's line, so that it takes less of the time."""
_NANOSECONDS = 1_000_000_000
_CAPACITY = 1 << 16
DRIVER = "driver.cc"
_CYCLES = 4096
"""Between two looks at the host's end."""
_COUNTS = ("reads", "writes", "refreshes")
_PIN = re.compile(r'^ *(?:LOCATE COMP|IO_LOC) "(\w+)', re.MULTILINE)
"""A pin in constraints of Lattice's or Gowin's."""
_OPTIONS = ("--pins-inout-enables",)
_DRIVEN = ("__out", "__en")
"""Verilator's suffix of the name of a pin of both directions."""


def board_library(design: Design) -> Path:
    """The compiled design."""
    module = from_rtlil(merge(design.board, BOARD))
    verilog = [from_rtlil(design.pins.text), module, design.controller]
    return library(design.pins, verilog, design.frequency, target=design.target)


def library(
    pins: Pins,
    verilog: Sequence[str],
    frequency: int,
    *,
    target: Target = ULX3S,
    own: Sequence[str] = (DRIVER,),
    root: bool = False,
    period: int = PERIOD,
) -> Path:
    """The compiled pins and their design; with `root` C++ can read the model's inner signals.

    `verilog` has the module of the pins, `own` is what drives it: files beside this one, and C++ between them.
    """
    engines = resources.files("ctm.sim.engines")
    top = target.top
    headers = ["models.h", *([f"V{top}___024root.h"] if root else [])]
    texts = [
        *(f'#include "{name}"' for name in headers),
        *(engines.joinpath(name).read_text() for name in ("axi_memory.h", "verilated.h")),
        f"struct Model : ModelContext, V{top} {{ Model() : V{top}(&context) {{}} }};",
        *_accessors(pins),
        *_roles(target, pins),
        f"constexpr int PERIOD = {period};",
        f"constexpr unsigned long long HALF_PERIOD = {_NANOSECONDS // frequency // 2};",
        *(_source(text) for text in ("serial_end.h", "sdram.h", *own)),
    ]
    return build(Model(top, "\n".join([*verilog, *_primitives(target)]), options=_OPTIONS), "\n".join(texts))


def _primitives(target: Target) -> list[str]:
    """Verilog of the cells at the pins of a board's FPGA."""
    if DEVICES[target.device].family is ECP5:
        return [_source("ecp5_pins.v")]
    return [_source("gowin_pins.v"), resources.files("ctm.sim.boards").joinpath("lattice_cells.v").read_text()]


def _source(text: str) -> str:
    """A file beside this one, or C++ itself."""
    return text if "\n" in text else Path(__file__).with_name(text).read_text()


def _accessors(pins: Pins) -> Iterator[str]:
    """C++ functions for the pins, called like their constraints; of those of both directions what is driven, too."""
    for name in sorted(set(_PIN.findall(pins.constraints))):
        member = name.replace("__", "___05F")
        suffixes = ("", *_DRIVEN) if re.search(rf"^  wire .*inout \d+ .*{name}$", pins.text, re.MULTILINE) else ("",)
        yield from (f"auto& {name}{suffix}(Model& model) {{ return model.{member}{suffix}; }}" for suffix in suffixes)


def _roles(target: Target, pins: Pins) -> Iterator[str]:
    """C++ functions for pins that boards name differently, or that some boards lack."""
    platform, led, enable = target.platform(), target.resources.led, "sdram_0__clk_en__io"
    button = platform.resources[target.resources.button, 0]
    released = int(button.ios[0].invert)
    lit = f"{led}_0__io(model)" if led else "false"
    enabled = f"{enable}(model)" if enable in pins.constraints else "true"
    yield f"auto& oscillator(Model& model) {{ return {platform.default_clk}_0__io(model); }}"
    yield f"void release_button(Model& model) {{ {button.name}_0__io(model) = {released}; }}"
    yield f"bool is_lit(Model& model) {{ return {lit}; }}"
    yield f"bool is_enabled(Model& model) {{ return {enabled}; }}"


class PinsError(AssertionError):
    """The memory chip rejects the signals at its pins."""


class BoardAtPins:
    """Exchanges bytes with a board that runs as fast as it can; its memory chip begins with anything in it."""

    def __init__(self, path: Path, *, seed: int = 1) -> None:
        self._library = ctypes.CDLL(str(path))
        pointer, number = ctypes.c_void_p, ctypes.c_uint64
        for name, arguments, result in (
            ("make", [number], pointer), ("free", [pointer], None), ("cycles", [pointer], number),
            ("is_ready", [pointer], ctypes.c_bool), ("violation", [pointer], ctypes.c_char_p),
            ("counts", [pointer, pointer], None),
            ("run", [pointer, number, ctypes.c_char_p, number, ctypes.c_char_p, number], number),
        ):  # fmt: skip
            function = getattr(self._library, f"board_{name}")
            function.argtypes, function.restype = arguments, result
        self._handle = self._library.board_make(seed)
        self._received = ctypes.create_string_buffer(_CAPACITY)

    def __del__(self) -> None:
        if hasattr(self, "_handle"):
            self._library.board_free(self._handle)

    def __call__(self, sent: bytes, cycles: int = _CYCLES) -> bytes:
        """Some cycles.

        Raises
        ------
        PinsError
            The chip rejects a command.
        """
        count = self._library.board_run(self._handle, cycles, sent, len(sent), self._received, _CAPACITY)
        if self._violation:
            raise PinsError(self._violation)
        return self._received.raw[:count]

    def start(self) -> None:
        """Run until memory has been started: what comes while the board is in reset is lost."""
        while not self.is_ready:
            assert not self(b"")

    @property
    def _violation(self) -> str:
        """The first rule of the chip that was broken."""
        return str(self._library.board_violation(self._handle).decode())

    @property
    def cycles(self) -> int:
        """Since the start of the FPGA."""
        return int(self._library.board_cycles(self._handle))

    @property
    def is_ready(self) -> bool:
        """Whether the LED says that memory has been started; without an LED it is False."""
        return bool(self._library.board_is_ready(self._handle))

    @property
    def counts(self) -> dict[str, int]:
        """Reads, writes and refreshes of the chip."""
        found = (ctypes.c_uint64 * len(_COUNTS))()
        self._library.board_counts(self._handle, found)
        return dict(zip(_COUNTS, found, strict=True))

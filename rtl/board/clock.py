"""The clocks and the reset of boards."""

from math import lcm
from typing import Any

from amaranth import ClockDomain, ClockSignal, Const, Instance, Module, ResetSignal, Signal, Value
from amaranth.lib import io
from amaranth.lib.cdc import FFSynchronizer

_STEP = 5_000_000
"""Hz: the clocks of a PLL are multiples of it, of which 1,000,000 baud are whole cycles."""
_SLOWEST, _FASTEST = 15_000_000, 40_000_000
"""Hz. For a much slower clock LiteDRAM makes no controller, because refreshes come too often. At a faster one half a
period is too short for commands to reach the memory chip, whose clock is inverted."""
_OSCILLATION = 600_000_000
"""Hz, near which the PLL's oscillator works: in the middle of its range (400 to 800 MHz)."""
_RESET_CYCLES = 255


def ecp5_frequency(wanted: int | None, oscillator: int) -> int:
    """The clock in Hz of a board with `ecp5_clocks`: the oscillator's, or the wanted one, or `ValueError`."""
    frequency = oscillator if wanted is None else wanted
    if frequency != oscillator and (frequency % _STEP or not _SLOWEST <= frequency <= _FASTEST):
        others = ", ".join(f"{each / 1e6:g}" for each in range(_SLOWEST, _FASTEST, _STEP))
        raise ValueError(f"the board's clock can have {others} or {_FASTEST / 1e6:g} MHz, not {frequency / 1e6:g}")
    return frequency


def gowin_frequency(wanted: int | None, oscillator: int) -> int:
    """The clock in Hz of a board with `gowin_clocks`: the oscillator's or half of it, or `ValueError`."""
    frequency = oscillator if wanted is None else wanted
    if frequency not in (oscillator, oscillator // 2):
        half, whole = oscillator // 2 / 1e6, oscillator / 1e6
        raise ValueError(f"the board's clock can have {half:g} or {whole:g} MHz, not {frequency / 1e6:g}")
    return frequency


def ecp5_clocks(m: Module, platform: Any, frequency: int, button: Value, memory: io.PortLike) -> None:
    """As `Clocks` of an ECP5: the clock is the oscillator's, or a PLL's."""
    given = int(platform.default_clk_frequency)
    oscillator = _oscillator(m, platform)
    clock, is_steady = (oscillator, Const(1)) if frequency == given else _pll(m, oscillator, given, frequency)
    _add_domain(m, clock, button | ~is_steady)
    _add_memory_clock(m, memory)


def gowin_clocks(m: Module, platform: Any, frequency: int, button: Value, memory: io.PortLike) -> None:
    """As `Clocks` of an FPGA of Gowin's: the clock is the oscillator's, or two flip-flops halve its frequency."""
    oscillator = _oscillator(m, platform)
    is_halved = frequency != int(platform.default_clk_frequency)
    _add_domain(m, _halved(m, oscillator) if is_halved else oscillator, button)
    _add_memory_clock(m, memory)


def _oscillator(m: Module, platform: Any) -> Value:
    pin = platform.request(platform.default_clk, dir="-")
    m.submodules.oscillator = oscillator = io.Buffer(io.Direction.Input, pin)
    return oscillator.i


def _halved(m: Module, source: Value) -> Value:
    """A clock of half the frequency."""
    m.domains.oscillator = ClockDomain(reset_less=True)
    m.d.comb += ClockSignal("oscillator").eq(source)
    # nextpnr puts a clock buffer on a net with this attribute, if the net carries no data.
    inverted, clock = Signal(name="inverted"), Signal(name="halved", attrs={"CLOCK": "BUFG", "keep": 1})
    m.d.oscillator += [inverted.eq(~inverted), clock.eq(inverted)]
    return clock


def _add_memory_clock(m: Module, pin: io.PortLike) -> None:
    """The inverted clock, of registers for both edges at the pin: it leaves the FPGA as signals do."""
    m.submodules.memory_clock = inverted = io.DDRBuffer(io.Direction.Output, pin)
    m.d.comb += [inverted.o[0].eq(0), inverted.o[1].eq(1)]


def _add_domain(m: Module, clock: Value, waiting: Value) -> None:
    """The domain "sync", in reset until some cycles after `waiting` falls."""
    m.domains.sync = ClockDomain()
    m.domains.start = ClockDomain(reset_less=True)
    m.d.comb += [ClockSignal("sync").eq(clock), ClockSignal("start").eq(clock)]
    waits = Signal()
    m.submodules.waits = FFSynchronizer(waiting, waits, o_domain="start")
    count, reset = Signal(range(_RESET_CYCLES + 1)), Signal(init=1)
    with m.If(waits):
        m.d.start += count.eq(0)
    with m.Elif(count != _RESET_CYCLES):
        m.d.start += count.eq(count + 1)
    m.d.start += reset.eq(count != _RESET_CYCLES)
    m.d.comb += ResetSignal("sync").eq(reset)


def _pll(m: Module, source: Value, given: int, frequency: int) -> tuple[Value, Value]:
    """Another clock, and whether it is steady. Source: Lattice, ECP5 sysCLOCK PLL Design and Usage Guide.

    The phase detector compares the source with an output of the same frequency (CLKOP), so that it works at
    no less than the 10 MHz of its data sheet; the clock is the other output (CLKOS).
    """
    clock, feedback, is_steady = Signal(name="divided"), Signal(name="feedback"), Signal()
    common = lcm(given, frequency)
    oscillation = round(_OSCILLATION / common) * common
    fed, divider = oscillation // given, oscillation // frequency
    m.submodules.pll = Instance(
        "EHXPLLL",
        a_FREQUENCY_PIN_CLKI=f"{given / 1e6:g}", a_FREQUENCY_PIN_CLKOS=f"{frequency / 1e6:g}", a_ICP_CURRENT="12",
        a_LPF_RESISTOR="8", a_MFG_ENABLE_FILTEROPAMP="1", a_MFG_GMCREF_SEL="2", p_PLLRST_ENA="DISABLED",
        p_INTFB_WAKE="DISABLED", p_STDBY_ENABLE="DISABLED", p_DPHASE_SOURCE="DISABLED", p_CLKI_DIV=1, p_CLKFB_DIV=1,
        p_CLKOP_ENABLE="ENABLED", p_CLKOP_DIV=fed, p_CLKOP_CPHASE=fed - 1, p_CLKOP_FPHASE=0,
        p_CLKOS_ENABLE="ENABLED", p_CLKOS_DIV=divider, p_CLKOS_CPHASE=divider - 1, p_CLKOS_FPHASE=0,
        p_FEEDBK_PATH="CLKOP", i_CLKI=source, i_CLKFB=feedback, i_RST=Const(0), i_STDBY=Const(0), i_PHASESEL0=Const(0),
        i_PHASESEL1=Const(0), i_PHASEDIR=Const(1), i_PHASESTEP=Const(1), i_PHASELOADREG=Const(1),
        i_PLLWAKESYNC=Const(0), i_ENCLKOP=Const(0), i_ENCLKOS=Const(0), o_CLKOP=feedback, o_CLKOS=clock,
        o_LOCK=is_steady,
    )  # fmt: skip
    return clock, is_steady

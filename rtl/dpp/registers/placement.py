"""Addresses of a wavefront's temporaries in the register file.

A wave slot has 2^n entries, as many as the program's temporaries need. Even wave slots are in one bank, odd ones in the
other. A wave slot that needs all of a small register file has both banks.
"""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.registers.file import register_address_layout
from ctm.rtl.isa.limits import REGISTER_BITS
from ctm.rtl.lib.views import record

ALLOCATION = data.StructLayout({"highest": REGISTER_BITS, "exponent": REGISTER_BITS + 1})
"""A program's highest temporary, and the n of a wave slot's 2^n entries, one-hot, 2^0 first."""


def _size_exponent(highest_temporary: Value) -> Value:
    """n, such that 2^n entries hold temporaries 0 to `highest_temporary`; one-hot, 2^0 first."""
    bits = [highest_temporary[bit] for bit in range(REGISTER_BITS)]
    return Cat(
        (bits[n - 1] if n else Const(1)) & ~Cat(bits[n:]).any() if n < REGISTER_BITS else bits[-1]
        for n in range(REGISTER_BITS + 1)
    )


def allocate(m: Module, highest_temporary: Value) -> data.View:
    """The allocation of a program's temporaries."""
    allocation = record(ALLOCATION)
    m.d.comb += [allocation.highest.eq(highest_temporary), allocation.exponent.eq(_size_exponent(highest_temporary))]
    return allocation


def usable_waves(config: ArrayConfig, exponent: Value) -> Value:
    """The wave slots that fit, one bit each: as many as the register file holds, `threads` at most."""
    result: Value = Const(0, config.threads)
    for n in range(REGISTER_BITS + 1):
        fitting = min(config.threads, config.temporaries >> n)
        result = Mux(exponent[n], Const((1 << fitting) - 1, config.threads), result)
    return result


class Placement:
    """Registers of one wave slot, as an instruction names them."""

    def __init__(self, m: Module, config: ArrayConfig, wave: Value, allocation: data.View) -> None:
        self._m, self._config, self._wave, self._highest = m, config, wave, Value.cast(allocation.highest)
        base = Signal(REGISTER_BITS + len(wave))
        for n in range(REGISTER_BITS + 1):
            with m.If(allocation.exponent[n]):
                m.d.comb += base.eq(wave[1:].shift_left(n))
        self._base = base

    def exists(self, number: Value) -> Value:
        """Whether the program has that temporary: others read 0, and writes to them are dropped."""
        return number <= self._highest

    def address(self, number: Value) -> data.View:
        """Its address, if it exists."""
        layout = register_address_layout(self._config)
        address = record(layout, name="address")
        entries = len(address.entry)
        linear = Signal(entries + 1, name="linear")
        self._m.d.comb += [
            linear.eq(self._base | number),
            address.entry.eq(linear[:entries]),
            address.bank.eq(self._wave[0] | linear[entries]),
        ]
        return address

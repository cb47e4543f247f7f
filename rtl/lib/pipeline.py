"""Registers between the steps of a pipeline."""

from typing import Any, TypeVar

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import data

Delayed = TypeVar("Delayed", bound=Value | data.View)


def delay(m: Module, value: Delayed, cycles: int = 1, *, name: str = "delayed") -> Delayed:
    """`value` as it was `cycles` clock cycles ago; with 0 cycles the value itself. A view keeps its layout.

    The registers have no reset: a pipeline's contents mean nothing until a validity bit beside them, which has one,
    says so.
    """
    for _ in range(cycles):
        register: Any = Signal(value.shape(), name=name, reset_less=True)
        m.d.sync += register.eq(value)
        value = register
    return value


def delay_valid(m: Module, bits: Value, cycles: int) -> list[Value]:
    """Bits that say what is valid: now, a cycle later and so on, the last `cycles` later; 0 behind a reset."""
    delayed = [bits]
    for _ in range(cycles):
        register = Signal(len(bits), name="valid_on_its_way")
        m.d.sync += register.eq(delayed[-1])
        delayed.append(register)
    return delayed


def lately(m: Module, bit: Value, cycles: int) -> Value:
    """Whether `bit` is 1, or was in one of the last `cycles` clock cycles: a pipeline of that depth is at work."""
    if not cycles:
        return bit
    before = Signal(cycles, name="before")
    m.d.sync += before.eq(Cat(bit, before))
    return bit | before.any()

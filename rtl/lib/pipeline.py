"""Registers between the stages of a pipeline."""

from typing import Any, TypeVar

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import data

Delayed = TypeVar("Delayed", bound=Value | data.View)


def delay(m: Module, value: Delayed, cycles: int = 1, *, name: str = "delayed") -> Delayed:
    """`value` as it was `cycles` clock cycles ago; with 0 cycles the value itself. A view keeps its layout.

    The registers have no reset: a pipeline's data means nothing without its valid bit, which has one (`delay_valid`).
    """
    for _ in range(cycles):
        register: Any = Signal(value.shape(), name=name, reset_less=True)
        m.d.sync += register.eq(value)
        value = register
    return value


def delay_valid(m: Module, bits: Value, cycles: int) -> list[Value]:
    """Valid bits of a pipeline's stages: now, a cycle later and so on, the last `cycles` later; 0 after a reset."""
    delayed = [bits]
    for _ in range(cycles):
        register = Signal(len(bits), name="valid_delayed")
        m.d.sync += register.eq(delayed[-1])
        delayed.append(register)
    return delayed


def recently(m: Module, bit: Value, cycles: int) -> Value:
    """Whether `bit` is 1, or was in one of the last `cycles` clock cycles: a pipeline of that depth is not empty."""
    if not cycles:
        return bit
    history = Signal(cycles, name="history")
    m.d.sync += history.eq(Cat(bit, history))
    return bit | history.any()

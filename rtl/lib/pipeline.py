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


def delay_held(
    m: Module, value: Delayed, first: Value, cycles: int, *, held: int, name: str = "held"
) -> Delayed:  # fmt: skip
    """`value` as it was `cycles` clock cycles ago, where it does not change for `held` cycles from each `first` on.

    That is so in these cycles; in others it is what came before. Cycles with `first` are `held` apart at least. A
    register is loaded once for each of them, so there are only as many as there are different values:
    ceil(cycles / held).
    """
    if held == 1:
        return delay(m, value, cycles, name=name)
    loads = delay_valid(m, first, cycles - 1)
    # The last register is loaded a cycle before its value is wanted, each other one `held` cycles before the next.
    for age in range((cycles - 1) % held, cycles, held):
        register: Any = Signal(value.shape(), name=name, reset_less=True)
        with m.If(loads[age]):
            m.d.sync += register.eq(value)
        value = register
    return value


def recently(m: Module, bit: Value, cycles: int) -> Value:
    """Whether `bit` is 1, or was in one of the last `cycles` clock cycles: a pipeline of that depth is not empty."""
    if not cycles:
        return bit
    history = Signal(cycles, name="history")
    m.d.sync += history.eq(Cat(bit, history))
    return bit | history.any()

"""The start of a memory controller: writes to its control registers."""

from collections.abc import Sequence
from dataclasses import dataclass

from amaranth import Array, Const, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.isa.limits import WORD_BITS, WORD_BYTES

NUMBER_BITS = 30
"""Width of a register's number at the control port."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """A word that is written to a register, at a byte address, and the cycles until the next one, at least."""

    address: int
    value: int
    wait: int = 0

    def __post_init__(self) -> None:
        if self.address % WORD_BYTES or not 0 <= self.number < 1 << NUMBER_BITS:
            raise ValueError(f"a register's address must be a multiple of {WORD_BYTES}, not {self.address:#x}")

    @property
    def number(self) -> int:
        """The register's number."""
        return self.address // WORD_BYTES


class ControlSignature(wiring.Signature):
    """Wishbone of 32 bits, seen from the manager, as far as single writes need it. `number` counts words."""

    def __init__(self) -> None:
        super().__init__({"request": Out(1), "number": Out(NUMBER_BITS), "word": Out(WORD_BITS), "acknowledge": In(1)})


class Startup(wiring.Component):
    """Makes `steps` once, in order, after each reset; `done` is high from then on.

    `request` is held until `acknowledge`, and falls for a cycle between two steps.

    Members
    -------
    control : ``Out(ControlSignature())``
    done : ``Out(1)``
    """

    control: Out(ControlSignature())
    done: Out(1)

    def __init__(self, steps: Sequence[Step]) -> None:
        if not steps:
            raise ValueError("a start has at least one step")
        self._steps = tuple(steps)
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        steps, control = self._steps, self.control
        index = Signal(range(len(steps)))
        remaining = Signal(range(max(step.wait for step in steps) + 1))

        def of(name: str, width: int) -> Array:
            return Array(Const(getattr(step, name), width) for step in steps)

        m.d.comb += [
            control.number.eq(of("number", NUMBER_BITS)[index]),
            control.word.eq(of("value", WORD_BITS)[index]),
        ]
        with m.FSM():
            with m.State("write"):
                m.d.comb += control.request.eq(1)
                with m.If(control.acknowledge):
                    m.d.sync += remaining.eq(of("wait", len(remaining))[index])
                    m.next = "wait"
            with m.State("wait"):
                m.d.sync += remaining.eq(remaining - 1)
                with m.If(remaining == 0):
                    m.d.sync += index.eq(index + 1)
                    m.next = "write"
                    with m.If(index == len(steps) - 1):
                        m.next = "done"
            with m.State("done"):
                m.d.comb += self.done.eq(1)
        return m

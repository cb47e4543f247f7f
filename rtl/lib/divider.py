"""Division by a constant, a bit at a time."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


class Divider(wiring.Component):
    """Divides a number by a constant, the highest bit of the quotient first.

    Latency from the first cycle with `start` to `done`: one cycle for each bit of the largest quotient, and one more.

    Members
    -------
    dividend : ``In(range(most + 1))``
        Sampled in the first cycle with `start`.
    start : ``In(1)``
        High until `done`.
    done : ``Out(1)``
    quotient : ``Out(range(most // divisor + 1))``
        From `done` on, until the next division.
    remainder : ``Out(range(most + 1))``
        Likewise; less than the divisor.
    """

    def __init__(self, divisor: int, *, most: int) -> None:
        if not 0 < divisor <= most:
            raise ValueError(f"divisor must be 1 to {most}, the largest dividend, not {divisor}")
        self._divisor, self._bits = divisor, (most // divisor).bit_length()
        super().__init__(
            {
                "dividend": In(range(most + 1)),
                "start": In(1),
                "done": Out(1),
                "quotient": Out(self._bits),
                "remainder": Out(range(most + 1)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        highest = self._divisor << self._bits - 1
        step, divisor = Signal(self._bits), Signal(range(highest + 1))
        with m.FSM():
            with m.State("idle"), m.If(self.start):
                m.d.sync += [self.remainder.eq(self.dividend), self.quotient.eq(0)]
                m.d.sync += [step.eq(1 << self._bits - 1), divisor.eq(highest)]
                m.next = "divide"
            with m.State("divide"):
                m.d.sync += [step.eq(step >> 1), divisor.eq(divisor >> 1)]
                with m.If(step == 0):
                    m.d.comb += self.done.eq(1)
                    m.next = "idle"
                with m.Elif(self.remainder >= divisor):
                    m.d.sync += [self.remainder.eq(self.remainder - divisor), self.quotient.eq(self.quotient | step)]
        return m

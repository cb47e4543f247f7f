"""The reciprocal of a float32, a bit a cycle.

Source: docs/draws.md.
"""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.fp.number import BIAS, SIGNIFICAND_BITS, WIDE_EXPONENT, Operand
from ctm.rtl.fp.product_sum import RAW_BITS
from ctm.rtl.lib.views import record

_BITS = SIGNIFICAND_BITS + 2
"""1, which is the quotient of a power of two; after the point a significand below 1, and the bit that rounds it."""
QUOTIENT_BITS = _BITS + 1
"""With one for all bits that would follow."""


def quotient_layout(passenger: int) -> data.StructLayout:
    """A raw result, significand * 2^(exponent - (RAW_BITS - 1)), that is not rounded; 0 of an infinity."""
    return data.StructLayout(
        {
            "significand": QUOTIENT_BITS,
            "exponent": WIDE_EXPONENT,
            "sign": 1,
            "infinite": 1,
            "nan": 1,
            "passenger": passenger,
        }
    )


class Reciprocal(wiring.Component):
    """Divides 1 by an operand: the quotient's bits and whether others follow, which is enough to round it.

    Latency is 27 cycles; the next operand is taken a cycle after the result.

    Members
    -------
    request : ``In(stream.Signature({operand: Operand, passenger}))``
    result : ``Out(stream.Signature(quotient_layout(passenger)))``
    """

    def __init__(self, passenger: int) -> None:
        self._passenger = passenger
        request = data.StructLayout({"operand": Operand, "passenger": passenger})
        super().__init__(
            {
                "request": In(stream.Signature(request)),
                "result": Out(stream.Signature(quotient_layout(passenger))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        operand, passenger = record(Operand, reset_less=True), Signal(self._passenger, reset_less=True)
        busy, remainder = Signal(), Signal(SIGNIFICAND_BITS + 1, reset_less=True)
        # A one in front of the quotient's bits arrives at the top with the last of them.
        quotient, difference = Signal(_BITS + 1, reset_less=True), Signal(SIGNIFICAND_BITS + 2)
        result, fits, done = self.result.payload, ~difference[-1], quotient[-1]
        m.d.comb += [
            difference.eq(remainder - operand.significand),
            self.request.ready.eq(~busy),
            self.result.valid.eq(busy & done),
            result.significand.eq(Mux(operand.infinite, 0, Cat(remainder.any(), quotient[:-1]))),
            result.exponent.eq(RAW_BITS - 1 - (QUOTIENT_BITS - 1) + BIAS - operand.exponent),
            result.sign.eq(operand.sign),
            result.infinite.eq(operand.zero),
            result.nan.eq(operand.nan),
            result.passenger.eq(passenger),
        ]
        with m.If(~busy):
            m.d.sync += [
                busy.eq(self.request.valid),
                operand.eq(self.request.payload.operand),
                passenger.eq(self.request.payload.passenger),
                remainder.eq(1 << SIGNIFICAND_BITS - 1),
                quotient.eq(1),
            ]
        with m.Elif(done):
            m.d.sync += busy.eq(~self.result.ready)
        with m.Else():
            m.d.sync += [
                quotient.eq(Cat(fits, quotient)),
                remainder.eq(Mux(fits, difference, remainder) << 1),
            ]
        return m

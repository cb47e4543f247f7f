"""The arithmetic that clipper and set-up share: a multiply-adder and a divider before one rounding unit.

Source: docs/draws.md; docs/arithmetic.md.
"""

from amaranth import Cat, Module, Mux, Signal
from amaranth.hdl import ValueLike
from amaranth.lib import data, enum, stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import PipelineConfig
from ctm.rtl.fp.number import unpack
from ctm.rtl.fp.product import Product
from ctm.rtl.fp.product_sum import RAW, RAW_BITS, ProductSum
from ctm.rtl.fp.result import Result
from ctm.rtl.fp.rounding import Rounding
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.lib.pipeline import delay, delay_valid
from ctm.rtl.lib.statement import Assign
from ctm.rtl.lib.views import record
from ctm.rtl.pa.reciprocal import QUOTIENT_BITS, Reciprocal

CLIENTS = 2
TAG_BITS = 5
"""Width of a client's tag."""
INTEGER_BITS = 50
"""Width of the magnitude that CONVERT takes: its low 32 bits are in a."""
PIPELINE = PipelineConfig()
LATENCY = PIPELINE.latency
"""Cycles from a multiply-add to its result."""


class Operation(enum.Enum, shape=2):
    """MULTIPLY_ADD is a * b + c, rounded once; RECIPROCAL 1 / a; CONVERT the integer in a and b, with the sign of c."""

    MULTIPLY_ADD = 0
    RECIPROCAL = 1
    CONVERT = 2


REQUEST = data.StructLayout({"operation": Operation, "a": WORD_BITS, "b": WORD_BITS, "c": WORD_BITS, "tag": TAG_BITS})
RESULT = data.StructLayout({"valid": 1, "tag": TAG_BITS, "word": WORD_BITS})


def requested(request: stream.Interface, operation: Operation, tag: ValueLike, **words: ValueLike) -> list[Assign]:
    """Statements that ask for an operation on `words`."""
    payload = request.payload
    named = [payload[name].eq(word) for name, word in words.items()]
    return [request.valid.eq(1), payload.operation.eq(operation), payload.tag.eq(tag), *named]


class Arithmetic(wiring.Component):
    """Does operations for two clients; the first one goes before the second.

    Results are float32, rounded to nearest even. A multiply-add is taken in each cycle, and its result comes `LATENCY`
    cycles later. An integer, an unsigned one of `INTEGER_BITS`, waits while a product is at the rounding unit, and
    comes 4 cycles later. A reciprocal is taken when the one before has left the divider, and comes 31 cycles later at
    the earliest: products and integers enter the rounding unit first. Results of different operations overtake each
    other; each has its request's tag, and nothing holds it back.

    Members
    -------
    requests : ``In(stream.Signature(REQUEST)).array(2)``
    results : ``Out(RESULT).array(2)``
    """

    requests: In(stream.Signature(REQUEST)).array(CLIENTS)
    results: Out(RESULT).array(CLIENTS)

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.product = product = Product(PIPELINE)
        m.submodules.product_sum = product_sum = ProductSum(PIPELINE)
        m.submodules.rounding = rounding = Rounding(RAW_BITS, PIPELINE)
        m.submodules.result = result = Result(PIPELINE)
        m.submodules.reciprocal = reciprocal = Reciprocal(TAG_BITS + CLIENTS)
        first, second = self.requests
        request, client = record(REQUEST), Signal(CLIENTS)
        ready, is_product, is_quotient, is_integer = Signal(), Signal(), Signal(), Signal()
        m.d.comb += [
            request.eq(Mux(first.valid, first.payload, second.payload)),
            client.eq(Mux(first.valid, 1, Cat(0, second.valid))),
            first.ready.eq(ready),
            second.ready.eq(ready & ~first.valid),
            is_product.eq(request.operation == Operation.MULTIPLY_ADD),
            is_quotient.eq(request.operation == Operation.RECIPROCAL),
            # It keeps a quotient from the rounding unit; a payload without a request must not.
            is_integer.eq((request.operation == Operation.CONVERT) & client.any()),
        ]
        a, b, c = (unpack(m, request[name], name=name) for name in ("a", "b", "c"))
        m.d.comb += [
            product.a.eq(a),
            product.b.eq(b),
            product_sum.product.eq(product.product),
            product_sum.addend.eq(c),
        ]

        multiplied = delay_valid(m, client & is_product.replicate(CLIENTS), PIPELINE.raw_latency)[-1]
        tag = delay(m, request.tag, PIPELINE.raw_latency, name="tag")
        occupied, raw, entering = multiplied.any(), record(RAW), Signal(CLIENTS + TAG_BITS)
        m.d.comb += [
            ready.eq(is_product | (is_quotient & reciprocal.request.ready) | (is_integer & ~occupied)),
            reciprocal.request.valid.eq(is_quotient & client.any()),
            reciprocal.request.payload.operand.eq(a),
            reciprocal.request.payload.passenger.eq(Cat(request.tag, client)),
            reciprocal.result.ready.eq(~occupied & ~is_integer),
            raw.eq(product_sum.raw),
            entering.eq(Cat(tag, multiplied)),
            rounding.raw.eq(raw),
            result.value.eq(rounding.rounded),
        ]
        # What enters the rounding unit: a sum of the pipeline, else an integer that is requested, else a quotient.
        with m.If(~occupied):
            with m.If(is_integer):
                self._enter_integer(m, request, raw)
                m.d.comb += entering.eq(Cat(request.tag, client))
            with m.Else():
                self._enter_quotient(m, reciprocal.result.payload, raw)
                m.d.comb += entering.eq(Mux(reciprocal.result.valid, reciprocal.result.payload.passenger, 0))
        cycles = PIPELINE.latency - PIPELINE.raw_latency
        entering_tag, entering_client = entering[:TAG_BITS], entering[TAG_BITS:]
        valid, given_tag = delay_valid(m, entering_client, cycles)[-1], delay(m, entering_tag, cycles, name="given_tag")
        for number, given in enumerate(self.results):
            m.d.comb += [given.valid.eq(valid[number]), given.tag.eq(given_tag), given.word.eq(result.result)]
        return m

    def _enter_integer(self, m: Module, request: data.View, raw: data.View) -> None:
        """Its lowest bit is the significand's."""
        m.d.comb += [
            raw.eq(0),
            raw.exponent.eq(RAW_BITS - 1),
            raw.significand.eq(Cat(request.a, request.b)[:INTEGER_BITS]),
            raw.sign.eq(request.c[-1]),
        ]

    def _enter_quotient(self, m: Module, quotient: data.View, raw: data.View) -> None:
        """As the divider gives it."""
        m.d.comb += raw.zero_sign.eq(quotient.sign)
        m.d.comb += [raw[name].eq(quotient[name]) for name in ("exponent", "significand", "sign", "infinite", "nan")]


# The rounding unit takes a quotient with its sticky bit as a raw sum.
assert QUOTIENT_BITS < RAW_BITS

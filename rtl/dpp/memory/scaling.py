"""From one pixel's scaled or projected coordinates to a pair.

Source: CTM Guide pp. 6, 32-33; docs/design/r5xx-core.md has the order of the roundings.
"""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.buffers import LIMIT_BITS
from ctm.rtl.config import COMBINATIONAL, PipelineConfig
from ctm.rtl.dpp.program import INPUT, PITCH_BITS
from ctm.rtl.fp.conversion import CoordinateIndex, from_integer
from ctm.rtl.fp.multiplication import Multiplication
from ctm.rtl.fp.number import ONE
from ctm.rtl.fp.reduction import Function
from ctm.rtl.fp.transcendental import Transcendental
from ctm.rtl.isa.limits import COORDINATE_BITS, WORD_BITS
from ctm.rtl.lib.pipeline import delay, delay_held, delay_valid

COORDINATES = data.StructLayout({"s": WORD_BITS, "t": WORD_BITS, "q": WORD_BITS})


class ScaledCoordinates(wiring.Component):
    """S and t times the reciprocal of q or 1, rounded, times the size or 1, rounded, and of that the floor, clamped.

    Latency is three times that of the configuration; one pair of coordinates per cycle.

    Members
    -------
    coordinates : ``In(COORDINATES)``
    scaled, projected : ``In(1)``
        Whether they are times the size, and divided by q.
    input : ``In(INPUT)``
    x, y : ``Out(12)``
    """

    coordinates: In(COORDINATES)
    scaled: In(1)
    projected: In(1)
    input: In(INPUT)
    x: Out(COORDINATE_BITS)
    y: Out(COORDINATE_BITS)

    def __init__(self, config: PipelineConfig) -> None:
        self._config = config
        self.latency = 3 * config.latency
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        latency, own, limits = self._config.latency, self.coordinates, self.input.limits
        m.submodules.reciprocal = reciprocal = Transcendental(self._config)
        divisor = Signal(WORD_BITS)
        m.d.comb += [
            reciprocal.word.eq(own.q),
            reciprocal.function.eq(Function.RCP),
            divisor.eq(Mux(delay(m, self.projected, latency), reciprocal.result, ONE)),
        ]
        for name, size, limit, result in (
            ("s", self.input.pitch, limits.width, self.x),
            ("t", self.input.height, limits.height, self.y),
        ):
            factor = Signal(WORD_BITS, name=f"factor_{name}")
            m.d.comb += factor.eq(Mux(self.scaled, from_integer(m, size), ONE))
            divided = self._product(m, f"division_{name}", delay(m, own[name], latency), divisor)
            scaled = self._product(m, f"scaling_{name}", divided, delay(m, factor, 2 * latency))
            at_end = Signal(LIMIT_BITS, name=f"limit_{name}")
            m.submodules[f"index_{name}"] = index = CoordinateIndex(COMBINATIONAL)
            m.d.comb += [
                at_end.eq(delay(m, limit, self.latency)),
                index.word.eq(scaled),
                index.limit.eq(at_end),
                result.eq(index.index),
            ]
        return m

    def _product(self, m: Module, name: str, a: Value, b: Value) -> Value:
        m.submodules[name] = unit = Multiplication(self._config)
        m.d.comb += [unit.a.eq(a), unit.b.eq(b)]
        return Value.cast(unit.result)


class SequentialScaling(wiring.Component):
    """The same products by one multiplier, one after the other: s, t, then each times its size.

    One pair of coordinates in `CYCLES` cycles, in which they must not change; they begin in one with `phase` 0. In the
    first cycle of its result `word` and `limit` are those of s, in the next one those of t.

    Members
    -------
    begins : ``In(1)``
        A pair of coordinates begins.
    phase : ``In(range(CYCLES))``
        Counts up in each cycle, and wraps.
    coordinates, scaled, projected, input : ``In``
        As `ScaledCoordinates` has them.
    word, limit : ``Out(32)``, ``Out(13)``
        A coordinate whose floor is to be taken, and what it is to be clamped to.
    """

    CYCLES = 4
    """Products of a pair."""

    begins: In(1)
    phase: In(range(CYCLES))
    coordinates: In(COORDINATES)
    scaled: In(1)
    projected: In(1)
    input: In(INPUT)
    word: Out(WORD_BITS)
    limit: Out(LIMIT_BITS)

    def __init__(self, config: PipelineConfig) -> None:
        self._config = config
        once = config.latency
        # A quotient waits until the multiplier is in the phase of what it is multiplied by.
        self._waits = (self.CYCLES // 2 - once) % self.CYCLES
        self.latency = 3 * once + self._waits
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        once, own = self._config.latency, self.coordinates
        m.submodules.reciprocal = reciprocal = Transcendental(self._config)
        m.submodules.product = product = Multiplication(self._config)
        step = Signal.like(self.phase, name="step")
        m.d.comb += [
            step.eq(self.phase - once),
            reciprocal.word.eq(own.q),
            reciprocal.function.eq(Function.RCP),
        ]
        is_t, multiplies = step[0], step[1]

        divided = self._held(m, Cat(own.s, own.t, self.projected), 0, once)
        quotients, projected = divided[:-1], divided[-1]
        # Factors are held for four cycles, of which the last two are those of their products.
        in_quotients = 2 * once + self._waits - self.CYCLES // 2
        given = Cat(self.input.limits.width, self.input.limits.height, self.input.pitch, self.input.height, self.scaled)
        at_scaling = self._held(m, given, 0, in_quotients)
        limits, sizes = at_scaling[: 2 * LIMIT_BITS], at_scaling[2 * LIMIT_BITS : -1]
        size = sizes.word_select(is_t, PITCH_BITS)
        factor = Mux(at_scaling[-1], from_integer(m, size), ONE)
        m.d.comb += [
            product.a.eq(
                Mux(
                    multiplies,
                    delay(m, product.result, self._waits, name="quotient"),
                    quotients.word_select(is_t, WORD_BITS),
                )
            ),
            product.b.eq(Mux(multiplies, factor, Mux(projected, reciprocal.result, ONE))),
            self.word.eq(product.result),
        ]
        at_end = self._held(m, limits, in_quotients, once)
        # The results come as many cycles after the multiplier's second half as it takes.
        is_end_of_t = (step - once)[0]
        m.d.comb += self.limit.eq(at_end.word_select(is_end_of_t, LIMIT_BITS))
        return m

    def _held(self, m: Module, value: Value, before: int, cycles: int) -> Value:
        """`value` so many cycles later, which itself comes `before` cycles after `begins`."""
        first = delay_valid(m, self.begins, before)[-1]
        return delay_held(m, value, first, cycles, held=self.CYCLES)

"""From one processor's scaled or projected coordinates to a pair.

Source: CTM Guide pp. 6, 32-33; docs/design/r5xx-core.md has the order of the roundings.
"""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.buffers import LIMIT_BITS
from ctm.rtl.config import COMBINATIONAL, PipelineConfig
from ctm.rtl.dpp.program import INPUT
from ctm.rtl.fp.conversion import CoordinateIndex, from_integer
from ctm.rtl.fp.multiplication import Multiplication
from ctm.rtl.fp.number import ONE
from ctm.rtl.fp.reduction import Function
from ctm.rtl.fp.transcendental import Transcendental
from ctm.rtl.isa.limits import COORDINATE_BITS, WORD_BITS
from ctm.rtl.lib.pipeline import delay

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

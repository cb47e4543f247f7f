"""Arithmetic on coordinates of fetches, pixel by pixel: normalised ones times a size, and gradients.

Source: R700-Family Instruction Set Architecture, sections 5.3 and 5.5; docs/architecture.md.
"""

from typing import Any

from amaranth import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.buffers import LIMIT_BITS
from ctm.rtl.border.clients import WORDS
from ctm.rtl.config import MachineConfig
from ctm.rtl.fp.conversion import from_integer
from ctm.rtl.fp.multiply_add import MultiplyAdd
from ctm.rtl.fp.number import ONE
from ctm.rtl.isa.limits import CHANNELS, QUAD, WORD_BITS
from ctm.rtl.isa.r700.components import ComponentSelect
from ctm.rtl.lib.pipeline import delay_valid
from ctm.rtl.r700.memory.instruction import FETCH, Task
from ctm.rtl.r700.registers.file import pixel_vectors, slice_words

_NEGATIVE_ZERO = 1 << (WORD_BITS - 1)
"""Added to a product it changes nothing."""
_AXES = 2
_MINUEND, _SUBTRAHEND = {False: 3, True: 2}, {False: 2, True: 0}
"""Pixels of a quad whose difference is its gradient, without and with `vertical`."""


def coordinate(components: list[Value], select: Value) -> Value:
    """What a `SourceSelect` is of a pixel's components."""
    first = Mux(select == ComponentSelect.ONE.value, ONE, 0)
    return Mux(select[2], first, Array(components)[select[:2]])


class CoordinateScaling(wiring.Component):
    """Works on a slice of a register: two of its components in each cycle.

    SAMPLE: x and y times `sizes`, rounded; a cycle for each pixel. GRADIENT: what all pixels of a quad get, all four
    components; two cycles for each. Behind them comes the latency of the arithmetic. `done` is the last cycle.

    Members
    -------
    start : ``In(1)``
        High until `done`.
    fetch : ``In(FETCH)``
    source : ``In(ArrayLayout(words of a slice, 4))``
    sizes : ``In(ArrayLayout(13, 2))``
    done : ``Out(1)``
    stores, pixel, element : ``In``
        A pixel's results from somebody else.
    results : ``Out(ArrayLayout(words of a slice, 4))``
    """

    def __init__(self, config: MachineConfig) -> None:
        self._config = config
        wide = data.ArrayLayout(slice_words(config.array), CHANNELS)
        super().__init__(
            {
                "start": In(1),
                "fetch": In(FETCH),
                "source": In(wide),
                "sizes": In(data.ArrayLayout(LIMIT_BITS, _AXES)),
                "done": Out(1),
                "stores": In(1),
                "pixel": In(range(config.array.group)),
                "element": In(WORDS),
                "results": Out(wide),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        fetch, size = self.fetch, self._config.array.group
        units = [MultiplyAdd(self._config.arithmetic) for _ in range(_AXES)]
        latency = units[0].latency
        is_gradient, pixel_bits = Signal(), (size - 1).bit_length()
        count = Signal(range(2 * size + latency + 1))
        steps = Mux(is_gradient, 2 * size, size)
        pixel, second = count[:pixel_bits], count[pixel_bits]
        words = pixel_vectors(self.source, range(size))
        own, minuend, subtrahend = (
            Signal(CHANNELS * WORD_BITS, name=name) for name in ("own", "minuend", "subtrahend")
        )
        first = pixel & ~(QUAD - 1)
        m.d.comb += [
            is_gradient.eq(fetch.task == Task.GRADIENT),
            own.eq(Array(words)[pixel]),
            minuend.eq(Array(words)[first | Mux(fetch.vertical, _MINUEND[True], _MINUEND[False])]),
            subtrahend.eq(Array(words)[first | Mux(fetch.vertical, _SUBTRAHEND[True], _SUBTRAHEND[False])]),
            self.done.eq(self.start & (count == steps + latency)),
        ]
        m.d.sync += count.eq(Mux(self.start & ~self.done, count + 1, 0))
        arrives = delay_valid(m, Cat(self.start & (count < steps), pixel, second), latency)[-1]
        arriving = arrives[1 : 1 + pixel_bits]
        for axis, unit in enumerate(units):
            m.submodules[f"multiply_add_{axis}"] = unit
            select = Mux(is_gradient & second, fetch.coordinates[axis + _AXES], fetch.coordinates[axis])
            left, right, plain = (self._chosen(vector, select) for vector in (minuend, subtrahend, own))
            m.d.comb += [
                unit.a.eq(Mux(is_gradient, left, plain)),
                unit.b.eq(Mux(is_gradient, ONE, from_integer(m, self.sizes[axis]))),
                unit.c.eq(Mux(is_gradient, right ^ _NEGATIVE_ZERO, _NEGATIVE_ZERO)),
            ]
            # Results are kept apart from the source, which all pixels of a quad read.
            for each in range(size):
                with m.If(arrives[0] & (arriving == each)):
                    with m.If(arrives[-1]):
                        m.d.sync += self.results[axis + _AXES][each].eq(unit.result)
                    with m.Else():
                        m.d.sync += self.results[axis][each].eq(unit.result)
        for each in range(size):
            with m.If(self.stores & (self.pixel == each)):
                m.d.sync += [self.results[channel][each].eq(self.element[channel]) for channel in range(CHANNELS)]
        return m

    @staticmethod
    def _chosen(vector: Any, select: Value) -> Value:
        return coordinate([vector.word_select(channel, WORD_BITS) for channel in range(CHANNELS)], select)

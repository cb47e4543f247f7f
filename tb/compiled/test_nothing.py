"""Operations on no bits at all, as generated hardware has them at its ends, compiled as Amaranth has them."""

from amaranth import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.sim.compiled.unit import CompiledUnit
from ctm.sim.compiled.verilog import convert_to_rtlil


class Nothing(wiring.Component):
    """What is said of no bits, beside a bit."""

    bit: In(1)
    all: Out(2)
    any: Out(2)
    odd: Out(2)
    equal: Out(2)
    latency = 0

    def elaborate(self, platform: object) -> Module:
        m = Module()
        none, own = Cat(), self.bit
        m.d.comb += [
            self.all.eq(Cat(own & none.all(), own)), self.any.eq(Cat(own | none.any(), own)),
            self.odd.eq(Cat(own ^ none.xor(), own)), self.equal.eq(Cat(own & (none == 0), own)),
        ]  # fmt: skip
        return m


def test_compiled_as_amaranth_has_it() -> None:
    found = CompiledUnit(Nothing())(bit=[0, 1])
    assert {name: values.tolist() for name, values in found.items()} == dict.fromkeys(found, [0, 3])


def test_other_operations_are_left_as_they_are() -> None:
    text = convert_to_rtlil(Nothing(), top="nothing")
    assert text.count("parameter \\A_WIDTH 0\n") == 3

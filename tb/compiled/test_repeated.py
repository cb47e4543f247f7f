"""Modules that are the same hardware are written once."""

import re

from amaranth import Instance, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.sim.compiled.rewriting.repeated import KEPT, merge
from ctm.sim.compiled.verilog import convert_to_rtlil


class Stage(wiring.Component):
    """Arithmetic that is enough to stay a module; `mixed` follows `value` at once, `total` a cycle later."""

    value: In(32)
    mixed: Out(32)
    total: Out(32)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        word = self.value
        for number in range(16):
            following = Signal(32)
            m.d.comb += following.eq(Mux(word[number], word + (number * 0x9E3779B9 & 0xFFFF_FFFF), word ^ word << 3))
            word = following
        m.d.comb += self.mixed.eq(word)
        m.d.sync += self.total.eq(self.total + word)
        return m


class Echo(wiring.Component):
    """Two paths through one module, neither of which meets the other."""

    there: In(16)
    back: In(16)
    there_out: Out(16)
    back_out: Out(16)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for given, result in ((self.there, self.there_out), (self.back, self.back_out)):
            word = given
            for number in range(12):
                following = Signal(16)
                m.d.comb += following.eq(Mux(word[0], word + number * 7, word ^ 0x55 << number))
                word = following
            m.d.comb += result.eq(word)
        return m


class Design(wiring.Component):
    """Two of each."""

    value: In(32)
    mixed: Out(32)
    total: Out(32)
    echoed: Out(16)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.first, m.submodules.second = first, second = Stage(), Stage()
        m.d.comb += [first.value.eq(self.value), second.value.eq(first.mixed), self.mixed.eq(second.mixed)]
        m.d.comb += self.total.eq(first.total ^ second.total)
        m.submodules.left, m.submodules.right = left, right = Echo(), Echo()
        m.d.comb += [left.there.eq(self.value), right.there.eq(left.there_out), left.back.eq(right.there_out)]
        m.d.comb += [right.back.eq(left.back_out), self.echoed.eq(right.back_out)]
        return m


def test_modules_that_are_the_same_are_written_once_and_large_ones_kept() -> None:
    text = convert_to_rtlil(Design(), top="top")
    names = re.findall(r"^module (\S+)$", text, re.MULTILINE)
    merged = merge(text, "top")
    assert len(names) == 5
    assert sorted(re.findall(r"^module (\S+)$", merged, re.MULTILINE)) == [r"\top", r"\top.first", r"\top.left"]
    assert merged.count(KEPT) == 2


class Board(wiring.Component):
    """Instances of a module that is written elsewhere, beside a module that is here."""

    value: In(32)
    mixed: Out(32)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.stage = stage = Stage()
        between = Signal(32)
        m.submodules.elsewhere = Instance("elsewhere", i_given=self.value, o_result=between)
        m.d.comb += [stage.value.eq(between), self.mixed.eq(stage.mixed)]
        return m


def test_a_module_that_is_written_elsewhere_is_only_instantiated() -> None:
    text = merge(convert_to_rtlil(Board(), top="top"), "top")
    assert re.findall(r"^module (\S+)", text, re.MULTILINE) == ["\\top.stage", "\\top"]
    cell = re.search(r"^  cell \\elsewhere .*?^  end", text, re.MULTILINE | re.DOTALL)
    assert cell and "connect \\given " in cell[0] and "connect \\result " in cell[0]

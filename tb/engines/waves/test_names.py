"""The names of a wave are those of the sources, and fields are bits of their signals."""

from typing import Any

from amaranth import Module, Signal
from amaranth.lib import data, enum, wiring
from amaranth.lib.wiring import In, Out

from ctm.sim.compiled.verilog import convert_to_rtlil
from ctm.sim.engines.waves.names import NO_ENUMERATION, Leaf, names, without_fields


class Phase(enum.Enum, shape=2):
    IDLE = 0
    WORK = 2


REQUEST = data.StructLayout({"phase": Phase, "ranges": data.ArrayLayout(3, 2), "mask": data.ArrayLayout(1, 4)})


class Inner(wiring.Component):
    request: In(REQUEST)
    phase: Out(Phase)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        own: Any = self
        kept = Signal(REQUEST)
        m.d.sync += kept.eq(own.request)
        m.d.comb += own.phase.eq(kept.phase)
        return m


class Outer(wiring.Component):
    request: In(REQUEST)
    phase: Out(Phase)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        own: Any = self
        m.submodules.inner = inner = Inner()
        m.d.comb += [inner.request.eq(own.request), own.phase.eq(inner.phase)]
        return m


def test_fields_are_bits_with_their_enumerations() -> None:
    found = names(convert_to_rtlil(Outer(), top="top"))
    (phase,) = (number for each, number in found.enumerations.items() if each.name.endswith("Phase"))
    (enumeration,) = (each for each in found.enumerations if each.name.endswith("Phase"))
    assert enumeration.members == (("00", "IDLE"), ("10", "WORK"))
    shown, leaves = found.signals["top.inner"]["kept"]
    assert shown == "kept"
    # An array of single bits is one field.
    assert leaves == [
        Leaf("phase", 0, 2, phase),
        Leaf("ranges__0", 2, 3, NO_ENUMERATION),
        Leaf("ranges__1", 5, 3, NO_ENUMERATION),
        Leaf("mask", 8, 4, NO_ENUMERATION),
    ]
    assert found.signals["top.inner"]["phase"] == ("phase", [Leaf("", 0, 2, phase)])
    assert found.instances["top"]["inner"] == ("inner", "top.inner")


def test_a_text_for_the_writer_has_them_all() -> None:
    lines = names(convert_to_rtlil(Outer(), top="top")).text().splitlines()
    assert "M top.inner" in lines
    assert "L ranges__1 5 3 -1" in lines
    assert any(line.startswith("V 10 WORK") for line in lines)


def test_without_fields_nothing_else_is_lost() -> None:
    rtlil = convert_to_rtlil(Outer(), top="top")
    plain = without_fields(rtlil)
    assert "kept.phase" in rtlil and "kept.phase" not in plain
    assert rtlil.count("\ncell ") == plain.count("\ncell ") and rtlil.count("process") == plain.count("process")
    assert {name: sorted(own) for name, own in names(plain).signals.items()} == {
        name: sorted(own) for name, own in names(rtlil).signals.items()
    }

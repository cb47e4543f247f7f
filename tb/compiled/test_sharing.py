"""An expression that a module uses several times is one there, and the hardware is the same."""

import re
from pathlib import Path

import pytest
from amaranth import ClockDomain, Module, Mux, Signal
from amaranth.hdl import _xfrm
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.lib.age_matrix import AgeMatrix
from ctm.rtl.lib.clock_gating import resettable
from ctm.sim.compiled.error import ToolchainError
from ctm.sim.compiled.sharing import shared_expressions
from ctm.sim.compiled.tools.package import FPGA_YOSYS
from ctm.sim.compiled.tools.programs import run
from ctm.sim.compiled.verilog import convert_to_rtlil
from ctm.sim.synthesis.tool import command
from ctm.tb.lib.proving import needs_prover

_EQUIVALENT = (
    "setattr -mod -unset top; proc; flatten; equiv_make gold gate both; hierarchy -top both; equiv_simple; equiv_induct"
)


class Inner(wiring.Component):
    """Uses an expression of the module around it, and the clock `falling` of its own."""

    def __init__(self, given: Signal) -> None:
        self._given = given
        super().__init__({"seen": Out(8), "held": Out(8)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.domains.falling = falling = ClockDomain(local=True)
        m.d.comb += [falling.clk.eq(~self._given[0]), self.seen.eq((self._given + 1)[:8])]
        m.d.falling += self.held.eq(self.held + 1)
        return m


class Outer(wiring.Component):
    """Uses a sum four times, each bit of a comparison's result likewise; a slice of it has another reset."""

    def __init__(self) -> None:
        super().__init__({"a": In(8), "b": In(8), "x": Out(32), "y": Out(8), "z": Out(8), "n": Out(8), "held": Out(8)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        total = (self.a + self.b)[:8]
        inner = Inner(self.a)
        m.submodules.inner = resettable(inner, total[0])
        m.d.comb += [
            self.x.eq((total == 3).replicate(32)), self.y.eq(Mux(total[1], total, self.b)), self.n.eq(inner.seen),
            self.held.eq(inner.held),
        ]  # fmt: skip
        with m.If(total[2]):
            m.d.sync += self.z.eq(total)
        return m


def operators(text: str) -> list[str]:
    return sorted(re.findall(r"cell (\$(?:add|eq|mux)) ", text))


def test_an_expression_is_one_in_its_module() -> None:
    apart, shared = (convert_to_rtlil(Outer(), top="top", is_shared=each) for each in (False, True))
    assert operators(apart).count("$eq") == 32 and operators(apart).count("$add") > 32
    # Its sum and comparison, its inner module's sum, and the one of a register there.
    assert operators(shared) == ["$add", "$add", "$add", "$eq", "$mux"]


def test_borders_of_modules_are_as_before() -> None:
    apart, shared = (convert_to_rtlil(Outer(), top="top", is_shared=each) for each in (False, True))
    ports = r"^  wire (?:width \d+ )?(?:input|output) \d+ \S+$|^module \S+"
    assert re.findall(ports, apart, re.MULTILINE) == re.findall(ports, shared, re.MULTILINE)


def prove(gold: str, gate: str, folder: Path) -> None:
    """Prove two modules the same by induction over the registers, which have the same names; else `ToolchainError`."""
    (folder / "both.il").write_text(f"{gold}\n{gate}")
    script = f"read_rtlil both.il; {_EQUIVALENT}; equiv_status -assert"
    run(command(FPGA_YOSYS, "run_yosys", "-q", "-p", script), folder, name="yosys")


@needs_prover
@pytest.mark.parametrize("make", [Outer, lambda: AgeMatrix(4, 2)], ids=["outer", "age matrix"])
def test_the_hardware_is_the_same(make: type[wiring.Component], tmp_path: Path) -> None:
    gold, gate = (convert_to_rtlil(make(), top=top, is_shared=top == "gate") for top in ("gold", "gate"))
    assert len(gold) > len(gate)
    prove(gold, gate, tmp_path)


@needs_prover
def test_other_hardware_is_not_the_same(tmp_path: Path) -> None:
    """The proof can fail."""
    gold, gate = (convert_to_rtlil(AgeMatrix(4, 2), top=top, is_shared=True) for top in ("gold", "gate"))
    wrong = gate.replace("cell $or ", "cell $and ", 1)
    assert wrong != gate
    with pytest.raises(ToolchainError, match="unproven"):
        prove(gold, wrong, tmp_path)


def test_amaranth_is_as_before_after_it() -> None:
    before = _xfrm.FragmentTransformer.map_statements
    with pytest.raises(ValueError), shared_expressions():
        raise ValueError
    assert _xfrm.FragmentTransformer.map_statements is before
    assert "on_value" not in vars(_xfrm.ValueTransformer)

"""Without a check of each net the netlist is the same, and afterwards nets are checked again."""

import pytest
from amaranth.back import rtlil
from amaranth.hdl import _nir

from ctm.rtl.lib.age_matrix import AgeMatrix
from ctm.sim.compiled.trusted_nets import trusted_nets
from ctm.sim.compiled.verilog import ports


def text() -> str:
    component = AgeMatrix(4, 2)
    found: str = rtlil.convert(component, ports=[port.value for port in ports(component)], emit_src=False)
    return found


def test_the_netlist_is_the_same() -> None:
    expected = text()
    with trusted_nets():
        assert _nir.Value([5]) == (5,)  # type: ignore[list-item]
        assert text() == expected


def test_nets_are_checked_again_after_an_error() -> None:
    with pytest.raises(ValueError), trusted_nets():
        raise ValueError
    with pytest.raises(AssertionError):
        _nir.Value([5])  # type: ignore[list-item]

"""No output of the rasterizer follows from an input in the same cycle."""

import itertools

import pytest
from amaranth import Signal
from amaranth.hdl import Fragment

from ctm.rtl.pa.rasterizer import Rasterizer
from ctm.rtl.pa.strips import StripWalker
from ctm.sim.compiled.verilog import Port, ports
from ctm.tb.border.dependence import Dependence


def bits(dependence: Dependence, port: Port) -> range:
    assert isinstance(port.value, Signal)
    return dependence.bits(port.value)


@pytest.mark.parametrize("lanes", [4, 64])
def test_every_output_begins_at_a_register(lanes: int) -> None:
    unit = Rasterizer(vertices=64, records=16, lanes=lanes)
    fragment = Fragment.get(unit, None)
    dependence = Dependence(fragment)
    listed = list(ports(unit))
    inputs = list(itertools.chain.from_iterable(bits(dependence, port) for port in listed if port.is_input))
    outputs = {port.name: bits(dependence, port) for port in listed if not port.is_input}
    assert len(inputs) > 400 and "strip__valid" in outputs
    wanted = tuple(itertools.chain.from_iterable(outputs.values()))
    found = dependence.reached(wanted, dict.fromkeys(inputs, 1), dependence.numbers[id(fragment)])
    assert not [name for name, own in outputs.items() if any(found.get(bit, 0) for bit in own)]


@pytest.mark.parametrize("lanes", [2, 12])
def test_lanes_are_whole_quads_in_a_power_of_two(lanes: int) -> None:
    with pytest.raises(ValueError, match=f"power of two from 4 on, not {lanes}"):
        StripWalker(lanes, 64, 16)

"""The pixels of a pass, of a segment and of a slice of a wavefront, for machines of all sizes and rates."""

from typing import Any

import numpy as np
import pytest
from amaranth import Const, Module, Signal
from amaranth.sim import Simulator

from ctm.rtl.config import R700, ArrayConfig, with_settings
from ctm.rtl.r700.border.registers import depth_of
from ctm.rtl.r700.partition import PERIOD, Partition, position, segment_outputs
from ctm.sim.golden.pe.domain import Domain, DomainWavefronts

_SLOT, _BITS = 2, 32
_MACHINES = [
    (lanes, wavefront, rate)
    for lanes in (4, 8, 16)
    for wavefront in (0, 4, 8, 16, 32, 64)
    for rate in (0, 1, 2, 4, 8)
    if (wavefront or lanes) >= lanes and rate <= lanes
]


def _array(lanes: int, wavefront: int, rate: int) -> ArrayConfig:
    settings = {"lanes": lanes, "wavefront": wavefront, "rate": rate, "threads": 4, "temporaries": 2048}
    config = with_settings(R700, {f"array.{name}": value for name, value in settings.items()})
    config.check_hardware()
    return config.array


def _values(array: ArrayConfig) -> list[tuple[int, ...]]:
    """The hardware's values of each pass: column and row of its first pixel, the row of its segment."""
    m, partition = Module(), Partition.of(array)
    number = Signal(partition.pass_bits)
    pixel = partition.first_pixel(number)
    wanted = [*position(pixel), partition.segment_row(pixel, Const(_SLOT, 2))]
    found = [Signal(_BITS, name=f"found_{number}") for number in range(len(wanted))]
    m.d.comb += [target.eq(value) for target, value in zip(found, wanted, strict=True)]
    values: list[tuple[int, ...]] = []

    async def run(context: Any) -> None:
        for each in range(partition.passes):
            context.set(number, each)
            values.append(tuple(context.get(target) for target in found))

    simulator = Simulator(m)
    simulator.add_testbench(run)
    simulator.run()
    return values


@pytest.mark.parametrize(("lanes", "wavefront", "rate"), _MACHINES)
def test_passes_go_through_a_wavefront(lanes: int, wavefront: int, rate: int) -> None:
    array = _array(lanes, wavefront, rate)
    zero = np.zeros(1, np.int64)
    group = DomainWavefronts(domain=Domain(), lanes=array.wavefront_lanes, order=zero, i=zero, j=zero)
    i, j = group.pairs()
    firsts = range(0, array.wavefront_lanes, array.at_once)
    rows = [_SLOT * Partition.of(array).segments + first // lanes for first in firsts]
    assert _values(array) == [(i[first], j[first], row) for first, row in zip(firsts, rows, strict=True)]
    assert segment_outputs(array).contexts == array.threads * array.wavefront_lanes // lanes > max(rows)


@pytest.mark.parametrize(("lanes", "wavefront", "rate"), _MACHINES)
def test_slices_are_whole_quads_of_four_passes_at_most(lanes: int, wavefront: int, rate: int) -> None:
    array = _array(lanes, wavefront, rate)
    partition = Partition.of(array)
    assert partition.slice * partition.slices == array.wavefront_lanes and partition.slice % 4 == 0
    assert partition.slice_passes == min(PERIOD, partition.passes)
    assert depth_of(array) * partition.slice == array.temporaries * lanes

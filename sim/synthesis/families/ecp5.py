"""Lattice ECP5, mapped for area: paths need not be faster than the target."""

from collections.abc import Mapping
from typing import Any

from ctm.sim.synthesis.families.carries import with_tables_in_carries
from ctm.sim.synthesis.families.constants import without_wired_constants
from ctm.sim.synthesis.families.family import Family, Joining
from ctm.sim.synthesis.families.lookup_tables import TABLE, with_known_tables, with_lut4s
from ctm.sim.synthesis.families.multiplexers import with_wide_multiplexers
from ctm.sim.synthesis.families.slices import with_own_slices

# Comparisons with constants in LUTs instead of carry chains: fewer cells, no lower clock; docs/synthesis.md compares.
SYNTH_OPTIONS = "-cmp2softlogic"
CARRY_LUTS = 2
"""LUTs that one CCU2C cell takes."""
RAM_LUTS = 6
"""LUTs that one TRELLIS_DPR16X4 cell takes: four that store, two by which they are written."""
FLIP_FLOP = "TRELLIS_FF"
MULTIPLIER, BLOCK_RAMS = "MULT18X18D", ("DP16KD", "PDPW16KD")
_LUTS = {"LUT4": 1, "CCU2C": CARRY_LUTS, "TRELLIS_DPR16X4": RAM_LUTS}
_MULTIPLEXER = "multiplexer.v"
_DENSITY = 80
"""Least share of a selection's numbers with a case of their own, in per cent."""
_COST = 220
"""Cost of a multiplexer of four inputs, where one of two costs 100."""


def _mapped(top: str, delay: int) -> str:
    return f"scratchpad -set abc9.D {delay}; {_gates(top)}; {_synth(top, 'map_ffs:')}"


def _mapped_otherwise(top: str) -> str:
    """ABC knows no delays of the FPGA's cells, and needs more of them."""
    flip_flops, after = _synth(top, "map_ffs:map_luts"), _synth(top, "map_cells:check")
    return f"{_gates(top)}; {flip_flops}; techmap -map +/lattice/latches_map.v; abc -lut 4:7; {after}"


def _gates(top: str) -> str:
    """A unit mapped to gates, flip-flops, and what is neither."""
    # A selection by a number becomes multiplexers of four, not sums of products.
    numbered = f"hierarchy -top {top}; proc; flatten; opt; pmux2shiftx -min_density {_DENSITY} -min_choices 4"
    # In version 0.70 of Yosys partly used ones of eight give wrong selects, with decoders and without:
    # `with_wide_multiplexers` makes them of what comes out.
    covered = f"muxcover -nodecode -mux4={_COST}; techmap -map {_MULTIPLEXER}"
    # In large units ABC9 gives a name twice unless unused names are removed.
    return f"{numbered}; {_synth(top, 'begin:map_ffs')}; {covered}; opt_clean -purge"


def _synth(top: str, steps: str) -> str:
    return f"synth_ecp5 {SYNTH_OPTIONS} -top {top} -run {steps}"


def _improved(module: Mapping[str, Any]) -> dict[str, Any]:
    return with_tables_in_carries(with_wide_multiplexers(module))


def _cells(module: Mapping[str, Any]) -> dict[str, Any]:
    return with_own_slices(with_lut4s(module))


ECP5 = Family(
    kinds={"luts": "LUT4", "registers": "flip-flops", "block_rams": "DP16KD", "multipliers": MULTIPLIER},
    sites={
        "luts": _LUTS,
        "registers": {FLIP_FLOP: 1},
        "block_rams": dict.fromkeys(BLOCK_RAMS, 1),
        "multipliers": {MULTIPLIER: 1},
    },
    mapped=_mapped,
    mapped_otherwise=_mapped_otherwise,
    improved=_improved,
    joining=Joining(
        libraries=("lattice/cells_sim_ecp5.v", "lattice/cells_bb_ecp5.v"),
        # Not carries, of which each has to follow its own.
        merged=(TABLE, FLIP_FLOP, "TRELLIS_DPR16X4", "PFUMX", "L6MUX21"),
        known=with_known_tables,
        cells=_cells,
    ),
    placeable=without_wired_constants,
    has_levels=True,
    files=(_MULTIPLEXER,),
)

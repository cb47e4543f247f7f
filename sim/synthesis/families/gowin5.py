"""Gowin's fifth series, GW5A, whose multipliers Yosys does not know by itself."""

from ctm.sim.synthesis.families.family import Family
from ctm.sim.synthesis.families.pairing import FLIP_FLOPS, with_paired_flip_flops

_MULTIPLIER = "multiplier_27x36.v"
_PRODUCTS = (
    "DSP_A_MAXWIDTH=27", "DSP_B_MAXWIDTH=36", "DSP_A_MINWIDTH=5", "DSP_B_MINWIDTH=5", "DSP_Y_MINWIDTH=10",
    "DSP_SIGNEDONLY=1", "DSP_NAME=$__MUL27X36",
)  # fmt: skip
_RAM_LUTS = 8
"""LUT sites that one RAM16SDP4 takes: nextpnr puts nothing else into its tile."""
_LUTS = {f"LUT{inputs}": 1 for inputs in range(1, 5)} | {"ALU": 1} | dict.fromkeys(
    ("RAM16SDP1", "RAM16SDP2", "RAM16SDP4"), _RAM_LUTS
)  # fmt: skip
_BLOCK_RAMS = dict.fromkeys(("SP", "SPX9", "SDPB", "SDPX9B", "DPB", "DPX9B", "pROM", "pROMX9"), 1)


def _mapped(top: str, delay: int) -> str:
    return f"scratchpad -set abc9.D {delay}; {_gates(top)}; {_synth(top, 'map_luts:check')}"


def _mapped_otherwise(top: str) -> str:
    return f"{_gates(top)}; abc -lut 4; clean; {_synth(top, 'map_cells:check')}"


def _gates(top: str) -> str:
    """A unit mapped to gates, flip-flops, and what is neither."""
    products = f"techmap -map +/mul2dsp.v {' '.join(f'-D {each}' for each in _PRODUCTS)}"
    return (
        f"{_synth(top, 'begin:coarse')}; proc; flatten; tribuf -logic; deminout; opt; wreduce; peepopt; opt_clean; "
        f"share; {products}; chtype -set $mul t:$__soft_mul; techmap -map {_MULTIPLIER}; alumacc; opt; "
        f"memory -nomap; opt_clean; "
        f"{_synth(top, 'map_ram:map_luts')}"
    )


def _synth(top: str, steps: str) -> str:
    # Wider LUTs would be made of multiplexers: one in six more LUT4.
    return f"synth_gowin -family gw5a -noiopads -nowidelut -strict-gw5a-dffs -setundef -top {top} -run {steps}"


GOWIN5 = Family(
    kinds={"luts": "LUT4", "registers": "flip-flops", "block_rams": "BSRAM", "multipliers": "MULT27X18"},
    sites={
        "luts": _LUTS,
        "registers": dict.fromkeys(FLIP_FLOPS, 1),
        "block_rams": _BLOCK_RAMS,
        # Each is two of the 27 x 18 that data sheets count.
        "multipliers": {"MULT27X36": 2},
    },
    mapped=_mapped,
    mapped_otherwise=_mapped_otherwise,
    placeable=with_paired_flip_flops,
    files=(_MULTIPLIER,),
)

"""Xilinx 7 series, mapped by Yosys as it does by itself."""

from ctm.sim.synthesis.families.family import Family

_MEMORIES = {
    "RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4, "RAM32X1S": 1, "RAM64X1S": 1, "RAM128X1S": 2, "RAM256X1S": 4,
    "RAM32M": 4, "RAM64M": 4, "SRL16E": 1, "SRLC32E": 1,
}  # fmt: skip
"""LUTs that store, by cell. Source: Xilinx UG474, 7 Series FPGAs Configurable Logic Block, table 2-3."""
_LUTS = {f"LUT{inputs}": 1 for inputs in range(1, 7)} | {"INV": 1} | _MEMORIES
_FLIP_FLOPS = dict.fromkeys(("FDRE", "FDSE", "FDCE", "FDPE"), 1)
_BLOCK_RAMS = {"RAMB18E1": 1, "RAMB36E1": 2}


def _mapped(top: str, delay: int) -> str:
    return f"scratchpad -set abc9.D {delay}; {_synth(top, 'begin:')}"


def _mapped_otherwise(top: str) -> str:
    cells = "xilinx_srl -fixed -minlen 3; techmap -map +/xilinx/lut_map.v -map +/xilinx/cells_map.v -D LUT_WIDTH=6"
    return f"{_synth(top, 'begin:map_luts')}; abc -luts 2:2,3,6:5; clean; {cells}; {_synth(top, 'finalize:')}"


def _synth(top: str, steps: str) -> str:
    return f"synth_xilinx -family xc7 -flatten -noiopad -noclkbuf -top {top} -run {steps}"


XILINX7 = Family(
    kinds={"luts": "LUT6", "registers": "flip-flops", "block_rams": "RAMB18E1", "multipliers": "DSP48E1"},
    sites={"luts": _LUTS, "registers": _FLIP_FLOPS, "block_rams": _BLOCK_RAMS, "multipliers": {"DSP48E1": 1}},
    mapped=_mapped,
    mapped_otherwise=_mapped_otherwise,
)

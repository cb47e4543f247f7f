"""Intel Cyclone V, mapped by Yosys as it does by itself."""

from fractions import Fraction

from ctm.sim.synthesis.families.family import Family

_ALMS = {"MISTRAL_ALUT6": 1} | dict.fromkeys(
    (*(f"MISTRAL_ALUT{inputs}" for inputs in range(2, 6)), "MISTRAL_ALUT_ARITH", "MISTRAL_NOT", "MISTRAL_MLAB"),
    Fraction(1, 2),
)
"""An ALM has one function of six inputs, or two of fewer; of an MLAB's twenty bits each ALM has two."""
_MULTIPLIERS = {"MISTRAL_MUL27X27": 2, "MISTRAL_MUL18X18": 1, "MISTRAL_MUL9X9": 1}


def _mapped(top: str, delay: int) -> str:
    return f"scratchpad -set abc9.D {delay}; {_synth(top, 'begin:')}"


def _mapped_otherwise(top: str) -> str:
    cells = "techmap -map +/intel_alm/common/alm_map.v; opt -fast; clean"
    return f"{_synth(top, 'begin:map_luts')}; abc -lut 6; {cells}; {_synth(top, 'check:')}"


def _synth(top: str, steps: str) -> str:
    return f"synth_intel_alm -family cyclonev -noiopad -noclkbuf -top {top} -run {steps}"


CYCLONE5 = Family(
    kinds={"luts": "ALM", "registers": "flip-flops", "block_rams": "M10K", "multipliers": "18 x 18 multipliers"},
    sites={
        "luts": _ALMS,
        "registers": {"MISTRAL_FF": 1},
        "block_rams": {"MISTRAL_M10K": 1},
        "multipliers": _MULTIPLIERS,
    },
    mapped=_mapped,
    mapped_otherwise=_mapped_otherwise,
)

"""A wavefront at the entry and at the exit of control flow."""

from amaranth.lib import data

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.wavefronts.scheduling import wave_bits
from ctm.rtl.r700.border.registers import row_bits
from ctm.rtl.r700.problem import PROBLEM
from ctm.rtl.r700.shapes import CF_ADDRESS_BITS


def start_layout(config: ArrayConfig) -> data.StructLayout:
    """A wavefront that begins: its covered pixels, and the row of its register 0."""
    return data.StructLayout({"wave": wave_bits(config), "covered": config.wavefront_lanes, "base": row_bits(config)})


def end_layout(config: ArrayConfig) -> data.StructLayout:
    """A wavefront at its end: its valid pixels; if it stopped, the problem and the address of the CF instruction."""
    return data.StructLayout(
        {"wave": wave_bits(config), "valid_mask": config.wavefront_lanes, "pc": CF_ADDRESS_BITS, "problem": PROBLEM}
    )

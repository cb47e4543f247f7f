"""The trace of the ALU, for comparison with the golden model and for observers."""

from amaranth.lib import data

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.wavefronts.scheduling import wave_bits
from ctm.rtl.isa.r700.limits import GROUP_SLOTS
from ctm.rtl.r700.border.alu_clause import address_layout, masks_layout
from ctm.rtl.r700.border.event import event_layout
from ctm.rtl.r700.border.registers import slice_words
from ctm.rtl.r700.partition import Partition
from ctm.rtl.r700.shapes import UNIT_ADDRESS_BITS


def alu_trace_layout(config: ArrayConfig) -> data.StructLayout:
    """Events of ALU groups, whose results come in the order in which they are issued.

    issue
        The group at `address` is issued for the pixels in `chosen`; `is_last`: this is its last issue.
    words
        The results of all pixels of a slice; registers are written in this cycle, and in the next one. The last slice's
        come with `result`.
    result
        The masks and address registers after it.
    """
    size, partition = config.wavefront_lanes, Partition.of(config)
    words = data.ArrayLayout(slice_words(partition), GROUP_SLOTS)
    return data.StructLayout(
        {
            "issue": event_layout(wave=wave_bits(config), address=UNIT_ADDRESS_BITS, chosen=size, is_last=1),
            "words": event_layout(**partition.slice_fields, words=words),
            "result": event_layout(wave=wave_bits(config), masks=masks_layout(size), addresses=address_layout(size)),
        }
    )

"""The trace of control flow, for comparison with the golden model and for observers."""

from amaranth.lib import data

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.wavefronts.scheduling import wave_bits
from ctm.rtl.isa.r700.limits import SUBENTRIES
from ctm.rtl.r700.border.event import event_layout
from ctm.rtl.r700.flow.stack import row_layout
from ctm.rtl.r700.flow.state import state_layout


def flow_trace_layout(config: ArrayConfig) -> data.StructLayout:
    """Events of control flow.

    instruction
        A CF instruction begins: the control state is as it was before.
    push
        A row of the stack is written. Rows of wave slot s begin at row s times the subentries of STACK_SIZE entries.
    """
    rows = config.stack_entries * SUBENTRIES
    return data.StructLayout(
        {
            "instruction": event_layout(wave=wave_bits(config), state=state_layout(config)),
            "push": event_layout(row=range(rows), words=row_layout(config.wavefront_lanes)),
        }
    )

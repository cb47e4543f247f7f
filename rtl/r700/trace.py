"""Traces of a core's units, for comparison with the golden model, instruction by instruction.

A design that does not connect them has no logic of them.
"""

from typing import Any

from amaranth.lib import data

from ctm.rtl.border.programs import wavefront_layout
from ctm.rtl.border.shading import Stage
from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.wavefronts.scheduling import wave_bits
from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r700.limits import GROUP_SLOTS, SUBENTRIES
from ctm.rtl.lib.valid_bits import ROWS_TOGETHER
from ctm.rtl.r700.alu.clauses import address_layout, masks_layout
from ctm.rtl.r700.flow.stack import row_layout
from ctm.rtl.r700.flow.state import end_layout, state_layout
from ctm.rtl.r700.registers.file import channel_write_layout, row_bits, slice_words
from ctm.rtl.r700.shapes import UNIT_ADDRESS_BITS
from ctm.rtl.r700.slices import slice_fields


def _event(**fields: Any) -> data.StructLayout:
    return data.StructLayout({"valid": 1, **fields})


def _fields(layout: data.StructLayout) -> dict[str, Any]:
    return {str(name): field.shape for name, field in layout}


def flow_trace_layout(config: ArrayConfig) -> data.StructLayout:
    """Events of control flow.

    instruction
        A CF instruction begins: the control state is as it was before.
    push
        A row of the stack is written; rows of wave slot s begin at s * STACK_SIZE subentries.
    """
    rows = config.stack_entries * SUBENTRIES
    return data.StructLayout(
        {
            "instruction": _event(wave=wave_bits(config), state=state_layout(config)),
            "push": _event(row=range(rows), words=row_layout(config.wavefront_lanes)),
        }
    )


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
    size = config.wavefront_lanes
    return data.StructLayout(
        {
            "issue": _event(wave=wave_bits(config), address=UNIT_ADDRESS_BITS, chosen=size, is_last=1),
            "words": _event(**slice_fields(config), words=data.ArrayLayout(slice_words(config), GROUP_SLOTS)),
            "result": _event(wave=wave_bits(config), masks=masks_layout(size), addresses=address_layout(size)),
        }
    )


def fetch_trace_layout(config: ArrayConfig) -> data.StructLayout:
    """A fetch instruction begins, for the pixels in `executing`; its registers are written until its clause ends."""
    return _event(wave=wave_bits(config), address=UNIT_ADDRESS_BITS, executing=config.wavefront_lanes)


def file_trace_layout(config: ArrayConfig) -> data.StructLayout:
    """A write of the register file; `invalidates` as in `RegisterFile`."""
    return _event(writes=data.ArrayLayout(channel_write_layout(config), CHANNELS), invalidates=ROWS_TOGETHER)


def trace_layout(config: ArrayConfig, *, draws: bool = False) -> data.StructLayout:
    """Events of one cycle, each with `valid`.

    take
        A wavefront takes a wave slot; where the machine `draws`, one of a program of this `stage`.
    start
        It begins: its registers, from the row `base` on, and its data share are as at a program's start.
    end
        It is at its end, or stops.

    The others are those of the units.
    """
    stage = {"stage": Stage} if draws else {}
    units = [flow_trace_layout(config), alu_trace_layout(config)]
    return data.StructLayout(
        {
            "take": _event(wave=wave_bits(config), wavefront=wavefront_layout(config.wavefront_lanes), **stage),
            "start": _event(wave=wave_bits(config), base=row_bits(config)),
            **{name: shape for unit in units for name, shape in _fields(unit).items()},
            "fetch": fetch_trace_layout(config),
            "end": _event(**_fields(end_layout(config))),
            "file": file_trace_layout(config),
        }
    )

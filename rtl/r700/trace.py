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
from ctm.rtl.lib.valid_bits import ROWS_TOGETHER
from ctm.rtl.r700.alu.trace import alu_trace_layout
from ctm.rtl.r700.border.event import event_layout
from ctm.rtl.r700.border.fetch_clause import fetch_trace_layout
from ctm.rtl.r700.border.registers import channel_write_layout, row_bits
from ctm.rtl.r700.border.wavefront import end_layout
from ctm.rtl.r700.flow.trace import flow_trace_layout


def _fields(layout: data.StructLayout) -> dict[str, Any]:
    return {str(name): field.shape for name, field in layout}


def file_trace_layout(config: ArrayConfig) -> data.StructLayout:
    """A write of the register file; `invalidates` as in `RegisterFile`."""
    return event_layout(writes=data.ArrayLayout(channel_write_layout(config), CHANNELS), invalidates=ROWS_TOGETHER)


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
            "take": event_layout(wave=wave_bits(config), wavefront=wavefront_layout(config.wavefront_lanes), **stage),
            "start": event_layout(wave=wave_bits(config), base=row_bits(config)),
            **{name: shape for unit in units for name, shape in _fields(unit).items()},
            "fetch": fetch_trace_layout(config),
            "end": event_layout(**_fields(end_layout(config))),
            "file": file_trace_layout(config),
        }
    )

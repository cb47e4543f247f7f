"""What crosses the border of a core: wavefronts that come in, what the program is, and the memory clients."""

from typing import Any

from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import ConstantClient, FetchClient, UncachedClient, output_layout
from ctm.rtl.border.conditional import ConditionalClient
from ctm.rtl.border.programs import CORE_CREDITS, program_fault_layout, wavefront_layout
from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.beats import beat_fields
from ctm.rtl.dpp.program import program_layout
from ctm.rtl.dpp.shapes import Shapes
from ctm.rtl.dpp.wavefronts.scheduling import STALLS, wave_bits


def fetch_number_layout(config: ArrayConfig) -> data.StructLayout:
    """Which fetch it is: a wave slot, and one of its outstanding fetches."""
    return data.StructLayout({"wave": wave_bits(config), "entry": (config.lookups - 1).bit_length()})


def fetch_tag_layout(config: ArrayConfig, shapes: Shapes) -> data.StructLayout:
    """The same, and if a wavefront goes to memory in beats under one number, which one it is."""
    number = {str(name): field.shape for name, field in fetch_number_layout(config)}
    return data.StructLayout(number | (beat_fields(config) if shapes.fetches_in_beats else {}))


def memory_members(config: ArrayConfig, shapes: Shapes, *, cores: int = 1) -> dict[str, Any]:
    """The memory clients of a core, or those that `cores` of them share: uncached writes then have a core's number.

    It stands above the wave slot's. Members are `constants`, `fetches`, `uncached`, `output` and `tests`. All but tests
    are of as many lanes as are computed at once: a larger wavefront comes in beats, the first lanes first.
    """
    lanes, wave, areas = config.at_once, wave_bits(config) + (cores - 1).bit_length(), len(shapes.areas)
    return {
        "constants": Out(ConstantClient()),
        "fetches": Out(FetchClient(lanes, fetch_tag_layout(config, shapes), areas)),
        "uncached": Out(UncachedClient(lanes, wave, areas)),
        "output": Out(stream.Signature(output_layout(lanes))),
        "tests": Out(ConditionalClient(config.lanes)),
    }


def core_members(config: ArrayConfig, shapes: Shapes) -> dict[str, Any]:
    """The border of a core.

    Outputs follow from registers and from `program` alone: not from another input in the same cycle, nor from a unit
    that rests (`ctm.rtl.lib.clock_gating`). So a core can be simulated by itself.

    Members
    -------
    program : ``In(program_layout(shapes))``
        Constant from `load` or the first wavefront that is offered until the core is idle.
    invalidate_code, invalidate_constants : ``In(1)``
        The program, or a file of constants, is another one; only while the core is idle.
    load : ``In(1)``
        Load the program, if it is not there; a wavefront does so, too.
    wavefront : ``In(stream.Signature(wavefront_layout(group)))``
        Wavefronts with a covered processor.
    free : ``Out(range(AHEAD + 1))``
        As `CoreCredit`'s.
    fault : ``Out(stream.Signature(program_fault_layout(program_format), always_ready=True))``
        A wavefront is stopped. Of several in one cycle one is reported.
    idle : ``Out(1)``
        No wavefront is resident, nothing is outstanding, all outputs are sent.
    issued : ``Out(ports)``
        Ports that execute an instruction in this cycle.
    active_lanes : ``Out(range(group + 1))`` for each port
        Active processors of the instruction's wavefront; 0 if there is none.
    stalls : ``Out(len(STALLS))``
        As the scheduler's.
    code : ``Out(shapes.code)``
    constants, fetches, uncached, output, tests
        See `memory_members`.
    """
    ports = len(shapes.ports)
    return {
        "program": In(program_layout(shapes)),
        "invalidate_code": In(1),
        "invalidate_constants": In(1),
        "load": In(1),
        "wavefront": In(stream.Signature(wavefront_layout(config.group))),
        "free": Out(range(CORE_CREDITS + 1)),
        "fault": Out(stream.Signature(program_fault_layout(shapes.program_format), always_ready=True)),
        "idle": Out(1),
        "issued": Out(ports),
        "active_lanes": Out(data.ArrayLayout(range(config.group + 1), ports)),
        "stalls": Out(len(STALLS)),
        "code": Out(shapes.code),
        **memory_members(config, shapes),
    }

"""The border of a core: wavefronts, the program, the memory clients, and what counters see."""

from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Member, Out

from ctm.rtl.border.clients import ConstantClient, FetchClient, UncachedClient, output_layout
from ctm.rtl.border.conditional import ConditionalClient
from ctm.rtl.border.interface import Interface
from ctm.rtl.border.programs import CORE_CREDITS, program_fault_layout, wavefront_layout
from ctm.rtl.border.shading import ShadingClient, drawn_layout
from ctm.rtl.config import ArrayConfig, MachineConfig
from ctm.rtl.dpp.beats import beat_fields
from ctm.rtl.dpp.program import program_layout
from ctm.rtl.dpp.shapes import Shapes
from ctm.rtl.dpp.wavefronts.scheduling import STALLS, wave_bits


class LoadedProgram(Interface):
    """The program that cores run, and which of their copies of it are invalid; seen from the machine.

    Members
    -------
    settings : ``Out(program_layout(shapes))``
        Constant from the cycle before the first wavefront is offered, or the core's `load`, until the cores are idle.
    invalidate_code, invalidate_constants : ``Out(1)``
        Invalidates the code, or the constants; only while the cores are idle.
    """

    def __init__(self, shapes: Shapes) -> None:
        super().__init__(
            {"settings": Out(program_layout(shapes)), "invalidate_code": Out(1), "invalidate_constants": Out(1)}
        )


class Activity(Interface):
    """What cores do in a cycle, for counters; seen from the cores.

    Members
    -------
    issued : ``Out(ports * cores)``
        Ports that execute an instruction in this cycle, the first core's in the low bits.
    active_lanes : ``Out(range(cores * wavefront_lanes + 1))`` for each port
        Active pixels of the instructions' wavefronts, of all cores together; 0 if there is none.
    stalls : ``Out(range(cores + 1))`` for each cause in `STALLS`
        Cores that issued nothing at the counted port in the last cycle because of it.
    """

    def __init__(self, config: ArrayConfig, shapes: Shapes, *, cores: int = 1) -> None:
        ports = len(shapes.ports)
        super().__init__(
            {
                "issued": Out(ports * cores),
                "active_lanes": Out(data.ArrayLayout(range(cores * config.wavefront_lanes + 1), ports)),
                "stalls": Out(data.ArrayLayout(range(cores + 1), len(STALLS))),
            }
        )


def fetch_number_layout(config: ArrayConfig) -> data.StructLayout:
    """The number of a fetch: a wave slot, and one of its outstanding fetches."""
    return data.StructLayout({"wave": wave_bits(config), "entry": config.fetch_entry_bits})


def fetch_tag_layout(config: ArrayConfig, shapes: Shapes) -> data.StructLayout:
    """The number of a fetch, and its beat if the beats of a wavefront share one number."""
    number = {str(name): field.shape for name, field in fetch_number_layout(config)}
    return data.StructLayout(number | (beat_fields(config) if shapes.fetches_in_beats else {}))


def memory_members(
    config: ArrayConfig, shapes: Shapes, *, cores: int = 1, draws: bool = False, geometry: bool = False
) -> dict[str, Member]:
    """The memory clients of a core, or those that `cores` of them share.

    With `draws` fetches may read all memory, with `geometry` uncached writes may write it. Shared uncached writes have
    the core's number above the wave slot's. Members are `constants`, `fetches`, `uncached`, `output` and `tests`. All
    but tests have the lanes of one beat; a wavefront's first lanes come first.
    """
    lanes, wave, areas = config.at_once, wave_bits(config) + (cores - 1).bit_length(), len(shapes.areas)
    return {
        "constants": Out(ConstantClient()),
        "fetches": Out(FetchClient(lanes, fetch_tag_layout(config, shapes), areas, memory=draws)),
        "uncached": Out(UncachedClient(lanes, wave, areas, memory=geometry)),
        "output": Out(stream.Signature(output_layout(lanes, config.outputs))),
        "tests": Out(ConditionalClient(config.lanes)),
    }


def core_members(config: ArrayConfig, shapes: Shapes, machine: MachineConfig | None = None) -> dict[str, Member]:
    """The border of a core; `machine` is the configuration of all, if it may draw.

    Outputs depend on registers and on `program` only: not on another input in the same cycle, nor on a unit whose clock
    is gated (`ctm.rtl.lib.clock_gating`). So a core can be simulated by itself.

    Members
    -------
    program : ``In(LoadedProgram(shapes))``
    load : ``In(1)``
        Load the program if it is invalid; a wavefront does so, too.
    wavefront : ``In(stream.Signature(wavefront_layout(config.wavefront_lanes)))``
        Wavefronts with a covered pixel.
    free : ``Out(range(CORE_CREDITS + 1))``
        As `CoreCredit`'s.
    fault : ``Out(stream.Signature(program_fault_layout(program_format), always_ready=True))``
        A wavefront is stopped. Of several faults in one cycle one is reported.
    idle : ``Out(1)``
        No wavefront is resident, nothing is outstanding, all outputs are sent.
    activity : ``Out(Activity(config, shapes))``
    code : ``Out(shapes.code)``
    constants, fetches, uncached, output, tests
        See `memory_members`.
    shading : ``Out(ShadingClient(machine))``
        Where the machine draws.
    """
    drawn = drawn_layout(machine) if machine is not None else None
    shading = {} if machine is None or drawn is None else {"shading": Out(ShadingClient(machine))}
    return {
        "program": In(LoadedProgram(shapes)),
        "load": In(1),
        "wavefront": In(stream.Signature(wavefront_layout(config.wavefront_lanes, drawn=drawn))),
        "free": Out(range(CORE_CREDITS + 1)),
        "fault": Out(stream.Signature(program_fault_layout(shapes.program_format), always_ready=True)),
        "idle": Out(1),
        "activity": Out(Activity(config, shapes)),
        "code": Out(shapes.code),
        **memory_members(config, shapes, draws=drawn is not None, geometry=_has_geometry(machine)),
        **shading,
    }


def _has_geometry(machine: MachineConfig | None) -> bool:
    """Whether a machine draws with geometry programs."""
    return machine is not None and machine.pipeline.has_geometry

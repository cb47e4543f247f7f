"""What an observer sees of a core: instructions that are issued, and what every wavefront waits for.

An observer is beside a core (`ctm.rtl.r5xx.watch`, `ctm.rtl.r700.watch`): it reads signals of its units and drives
none, so the core computes the same in the same cycles. It exists only where a simulation asks for it.
"""

from amaranth.lib import enum
from amaranth.lib.wiring import Member, Out

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.shapes import Shapes
from ctm.rtl.dpp.wavefronts.scheduling import wave_bits
from ctm.rtl.isa.limits import COLUMN_BITS, COORDINATE_BITS


class Wait(enum.Enum, shape=4):
    """What a wave slot's wavefront does in a cycle, or what its next instruction waits for.

    FREE: the wave slot has no wavefront. START: registers are cleared. ISSUE: an instruction is issued. RESULT: the
    wavefront's previous instruction (a dependence). CODE: instructions, read or decoded. CONSTANT: a constant that is
    loaded. FETCH: responses of fetches or uncached writes. REQUEST: space towards memory. PORT: another wavefront's
    instruction, which its unit takes first. OUTPUT: the wavefront has ended, and its outputs are sent.
    """

    FREE = 0
    START = 1
    ISSUE = 2
    RESULT = 3
    CODE = 4
    CONSTANT = 5
    FETCH = 6
    REQUEST = 7
    PORT = 8
    OUTPUT = 9


def watch_members(config: ArrayConfig, shapes: Shapes) -> dict[str, Member]:
    """The outputs of an observer.

    Members
    -------
    issue_N_valid, issue_N_wave, issue_N_pc, issue_N_active, issue_N_present
        An instruction of port N counts as issued, in the cycle before its counter sees it: its wave slot, its address,
        the lanes that are active, and the lanes that are covered and valid.
    wave_slot_N : ``Out(Wait)``
        What wave slot N does.
    fetch_valid, fetch_wave, fetch_entry, fetch_pc
        A fetch has, from the next cycle on, this number: a wave slot and one of its outstanding fetches. It is of the
        instruction at that address.
    fetches : ``Out(1)``
        The coordinates of a fetch are computed, or wait for the input cache to take them. An observer without this
        leaves it 0.
    take_valid, take_wave, take_i, take_j, take_covered
        A wavefront takes a wave slot: the position of its first lane, and the lanes that are covered.
    """
    lanes, wave, pc = config.wavefront_lanes, wave_bits(config), shapes.program_format.most_units.bit_length()
    members: dict[str, Member] = {}
    for port in range(len(shapes.ports)):
        fields = {"valid": 1, "wave": wave, "pc": pc, "active": lanes, "present": lanes}
        members |= {f"issue_{port}_{name}": Out(width) for name, width in fields.items()}
    members |= {f"wave_slot_{wave_slot}": Out(Wait) for wave_slot in range(config.threads)}
    fetch = {"valid": 1, "wave": wave, "entry": config.fetch_entry_bits, "pc": pc}
    members |= {f"fetch_{name}": Out(width) for name, width in fetch.items()}
    members["fetches"] = Out(1)
    take = {"valid": 1, "wave": wave, "i": COLUMN_BITS, "j": COORDINATE_BITS, "covered": lanes}
    return members | {f"take_{name}": Out(width) for name, width in take.items()}

"""What the array's fields must know of an instruction set: numbers, names and layouts, but no operation."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from amaranth.hdl import ShapeLike
from amaranth.lib import data, wiring

from ctm.rtl.isa.executable import ProgramFormat


@dataclass(frozen=True, kw_only=True)
class Port:
    """An issue port: executes the instructions of one kind, each wavefront's one at a time.

    `name` is that of its counters. If it `fetches`, each of its instructions takes a place among its wave slot's
    fetches. If it `defers`, a wavefront comes to its next round, behind the others of that round, when an instruction
    is issued.
    """

    name: str
    fetches: bool = False
    defers: bool = False


@dataclass(frozen=True, kw_only=True)
class Resource:
    """Something that an instruction may need when it is issued, and that has no room in some cycles.

    `name` is the bit of an instruction's summary that says so. If it is a `request`, cycles without it count as waiting
    for a place on the way to memory.
    """

    name: str
    is_request: bool


@dataclass(frozen=True, kw_only=True)
class RegisterField:
    """Channels of a register that an instruction addresses together."""

    name: str
    channels: range


@dataclass(frozen=True, kw_only=True)
class Shapes:
    """What the scheduler, the tables of wavefronts and the registers are made for.

    program_format
        The executables that hold its programs. It gives the width of a PC.
    ports
        Issue ports, in the order of their numbers.
    counted
        The port whose issue is the core's progress: a cycle without it has a cause among `STALLS`.
    faulting
        The port that gets what cannot be executed, to report it.
    resources
        What else must have room.
    register_fields
        Of a register.
    operands
        Reads of each field of a register that an instruction of the counted port makes in one cycle.
    code
        The conversation in which a core gets its code from the code reader.
    flags, control, stacks
        What a wavefront keeps for each number of lanes: what results set of its processors, 0 at the start; what steers
        it, but for its PC; what of that has a depth.
    first_control
        What of `control` is not 0 when a wavefront starts.
    program
        What it must know of a program beside `program_layout`'s fields.
    fetches_in_beats
        A wavefront's beats go to memory as one fetch; else each of them has a number of its own.
    areas
        Outputs that a program reads and writes past the caches by the number of a word (`ctm.rtl.border.buffers`).
    """

    program_format: ProgramFormat
    ports: tuple[Port, ...]
    counted: int
    faulting: int
    resources: tuple[Resource, ...]
    register_fields: tuple[RegisterField, ...]
    operands: int
    code: wiring.Signature
    flags: Callable[[int], data.StructLayout]
    control: Callable[[int], data.StructLayout]
    stacks: Callable[[int], data.StructLayout]
    first_control: Callable[[int], Mapping[str, Any]]
    program: Mapping[str, ShapeLike]
    fetches_in_beats: bool = True
    areas: tuple[int, ...] = ()

    @property
    def pc_bits(self) -> int:
        """Width of a PC."""
        return self.program_format.pc_bits

    @property
    def unit_bits(self) -> int:
        """Width of a port's number."""
        return (len(self.ports) - 1).bit_length()

    @property
    def summary(self) -> data.StructLayout:
        """What the scheduler must know of an instruction.

        `unit` is the port that takes it. One that `waits` is not issued before the semaphore is free. A bit for each
        resource says whether the instruction needs it.
        """
        needs = {resource.name: 1 for resource in self.resources}
        return data.StructLayout({"unit": self.unit_bits, "waits": 1, **needs})

    def __post_init__(self) -> None:
        if sum(port.defers for port in self.ports) > 1:
            raise ValueError("one port at most may defer, because one wavefront at a time goes behind the others")

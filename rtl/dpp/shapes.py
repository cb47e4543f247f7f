"""Parameters of the array's units that depend on the instruction set: numbers, names and layouts, but no operation."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from amaranth.hdl import ShapeLike
from amaranth.lib import data, wiring

from ctm.rtl.isa.executable import ProgramFormat


@dataclass(frozen=True, kw_only=True)
class Port:
    """An issue port: executes the instructions of one kind, each wavefront's one at a time.

    `name` is that of its counters. If it `fetches`, each of its instructions is one of its wave slot's outstanding
    fetches. If it `defers`, issuing an instruction moves the wavefront to its next round, after the others there.
    """

    name: str
    fetches: bool = False
    defers: bool = False


@dataclass(frozen=True, kw_only=True)
class Resource:
    """A resource that an instruction may need at its issue, and that is not available in some cycles.

    `name` is its bit in an instruction's summary. If it is a `request`, cycles without it count as waiting for space
    towards memory.
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
    """Parameters of the scheduler, the tables of wavefronts and the registers.

    program_format
        The executables that hold its programs. It gives the width of a PC.
    ports
        Issue ports, in the order of their numbers.
    counted
        The port whose issue is the core's progress: a cycle without an issue has a cause among `STALLS`.
    faulting
        The port that reports instructions that cannot be executed.
    resources
        What else an issue needs.
    register_fields
        The fields of a register.
    operands
        Reads of each field of a register that an instruction of the counted port makes in one cycle.
    code
        The interface through which a core gets its code from the code reader.
    flags, control, stacks
        The state of a wavefront, by the number of lanes. `flags` are set by results and 0 at the start; `control` is
        flow-control state but for the PC; `stacks` have a depth.
    first_control
        The fields of `control` that are not 0 when a wavefront starts.
    program
        Fields of a program in addition to those of `program_layout`.
    fetches_in_beats
        A wavefront's beats are one fetch; else each of them has a number of its own.
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
        """The summary of an instruction, which the scheduler reads.

        `unit` is the port that takes it. One that `waits` is not issued before the semaphore is free. A bit for each
        resource says whether the instruction needs it.
        """
        needs = {resource.name: 1 for resource in self.resources}
        return data.StructLayout({"unit": self.unit_bits, "waits": 1, **needs})

    def __post_init__(self) -> None:
        if sum(port.defers for port in self.ports) > 1:
            raise ValueError("one port at most may defer, because the age matrix defers one wavefront in a cycle")

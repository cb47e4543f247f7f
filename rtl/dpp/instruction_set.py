"""An instruction set as the array takes it."""

from collections.abc import Callable
from dataclasses import dataclass

from amaranth.lib import wiring

from ctm.rtl.config import MachineConfig
from ctm.rtl.dpp.shapes import Shapes


@dataclass(frozen=True, kw_only=True)
class InstructionSet:
    """What an instruction set hangs into the array.

    name
        As `ArrayConfig.instruction_set` has it.
    shapes
        What the array's own parts are made for.
    core
        Makes a core, with the members of `core_members` and whatever it shows of its work.
    code_reader
        Makes what reads the code of all cores from memory: `address`, where it begins; `cores`, a `shapes.code` for
        each; `lines`, a `LineClient`; `loads`, whether a wavefront is offered to the array.
    launch
        Makes what converts a loaded image, and the state that commands have set, into the cores' program.
    """

    name: str
    shapes: Shapes
    core: Callable[[MachineConfig], wiring.Component]
    code_reader: Callable[[MachineConfig], wiring.Component]
    launch: Callable[[], wiring.Component]

"""An instruction set as the array takes it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from amaranth.lib import wiring

from ctm.rtl.config import ArrayConfig, MachineConfig
from ctm.rtl.dpp.shapes import Shapes


@dataclass(frozen=True, kw_only=True)
class InstructionSet:
    """The units and layouts that an instruction set adds to the array.

    name
        As `ArrayConfig.instruction_set` has it.
    shapes
        The parameters of the array's own units.
    core
        Makes a core, with the members of `core_members` and a trace.
    code_reader
        Makes the reader of code for all cores. Its members are `address`, where the code begins; `cores`, a
        `shapes.code` for each; and `lines`, a `LineClient`.
    watch
        Makes the observer of such a core, see `ctm.rtl.dpp.watch`.
    launch
        Makes the unit that converts a loaded image and the state of the commands into the cores' program.
    """

    name: str
    shapes: Shapes
    core: Callable[[MachineConfig], wiring.Component]
    watch: Callable[[ArrayConfig, Any], wiring.Component]
    code_reader: Callable[[MachineConfig], wiring.Component]
    launch: Callable[[MachineConfig], wiring.Component]
